import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";

import { createClock } from "../../src/links/clock.ts";
import { type Code, type LinkKey, parseCode } from "../../src/links/code.ts";
import {
  createLinks,
  createStoredLinks,
  type Links,
  type LinksOptions,
  type StoredLinks,
} from "../../src/links/links.ts";
import { isProblem } from "../../src/links/problem.ts";
import { DURATIONS_MS, NEVER_MS } from "../../src/links/time.ts";
import { storeOf } from "../../src/server/domain-store.ts";
import { openStore, type Store } from "../../src/store/open.ts";
import { newLink } from "../stores/links.ts";
import { temporaryFolder } from "../support/service.ts";

const DAY_MS = 86_400_000;
const HOLD_MS = 30 * DAY_MS;
const START = Date.UTC(2026, 2, 7, 12);

const folder = temporaryFolder();
let store: Store;
let wallMs = START;
let monotonicMs = 0;

beforeAll(async () => {
  store = await openStore({ engine: "sqlite", path: join(folder.path, "curt.db") }, { sizeKnownMs: 0 });
});
afterAll(async () => {
  await store.close();
  folder[Symbol.dispose]();
});

/** Sets both clocks to a time after START. */
function advanceTo(ms: number): void {
  wallMs = START + ms;
  monotonicMs = ms;
}

/** Opens the use cases with a clock that the test sets, over a real store. */
function openLinks(
  changes: Partial<Pick<LinksOptions, "fillRandom" | "codeLength" | "blocked">> & {
    readonly store?: Store;
  } = {},
): Links & Pick<StoredLinks, "purge"> {
  advanceTo(0);
  const options = {
    clock: createClock(
      () => wallMs,
      () => monotonicMs,
    ),
    fillRandom: (bytes: Uint8Array) => void crypto.getRandomValues(bytes),
    targetPolicy: {
      posture: "public",
      ownHosts: ["curt.example"],
      ownPorts: ["443"],
      isShortener: () => false,
    },
    defaultExpiry: "never",
    edits: "on",
    codeCase: "match" as const,
    pathsNeedName: false,
    codeLength: 7,
    codeHoldMs: HOLD_MS,
    blocked: () => undefined,
    readRules: async () => {},
    onCreated: () => {},
    onRefused: () => {},
    store,
    ...changes,
  } as const;
  const { purge } = createStoredLinks(options);
  return { ...createLinks({ ...options, store: storeOf(options.store, ""), keyPrefix: "" }), purge };
}

const originalUrl = "https://example.com/";

test("an edit can't move the start of a link that another request has started", async () => {
  const links = openLinks();
  await links.create({ originalUrl, customCode: "early", terms: { starts_at: "48h" } });
  const before = await links.find("early", "maker");
  if (isProblem(before)) throw new Error(before.kind);
  expect(await links.edit(before, { terms: { starts_at: null } })).toMatchObject({
    terms: { startsMs: START },
  });
  expect(await links.edit(before, { terms: { starts_at: "24h", max_visits: 3 } })).toEqual({
    kind: "invalid",
    refusals: [{ rule: "starts_at.started" }],
  });
  expect(await links.resolve("early")).toMatchObject({ target: originalUrl, terms: { startsMs: START } });
});

test("nobody changes or withdraws a link that they opened before it got another owner", async () => {
  const links = openLinks();
  await links.create({ originalUrl, customCode: "given-away", createdBy: "mina", owner: "mina" });
  const before = await links.find("given-away", "maker");
  if (isProblem(before)) throw new Error(before.kind);
  const person = "mina";
  const given = { originalUrl, terms: { owner: "joon", keys: 1 } };
  // Hashing the password takes longer than handing over.
  const [late, handedOver] = await Promise.all([
    links.edit(before, { person, originalUrl: "https://example.net/", terms: { password: "open sesame" } }),
    links.edit(before, { person, owner: "joon" }),
  ]);
  expect(handedOver).toMatchObject(given);
  expect(late).toMatchObject({ kind: "precondition.failed" });
  for (const refused of [
    await links.edit(before, { originalUrl: "https://example.net/" }),
    await links.edit(before, { person, owner: "mallory" }),
    await links.withdraw(before),
  ])
    expect(refused).toMatchObject({ kind: "precondition.failed" });
  expect(await links.find("given-away", "maker")).toMatchObject(given);
});

test("two edits at the same time can't move the start of a link past its end", async () => {
  const links = openLinks();
  await links.create({ originalUrl, customCode: "never-open", terms: { starts_at: "24h" } });
  const before = await links.find("never-open", "maker");
  if (isProblem(before)) throw new Error(before.kind);
  const outcomes = await Promise.all([
    links.edit(before, { terms: { expires_at: "48h" } }),
    links.edit(before, { terms: { starts_at: "1week", max_visits: 3 } }),
  ]);
  const refusal = { kind: "invalid", refusals: [{ rule: "expires_at.before-start" }] };
  expect(outcomes).toEqual([expect.objectContaining({ code: "never-open" }), refusal] as never);
  expect(await links.find("never-open", "maker")).toMatchObject({
    endsMs: START + 2 * DAY_MS,
    terms: { startsMs: START + DAY_MS },
  });
});

describe("a link with an end", () => {
  for (const [expiry, lifeMs] of Object.entries(DURATIONS_MS)) {
    test(`of ${expiry} ends on the millisecond, is held, and is unknown afterwards`, async () => {
      const links = openLinks();
      const code = `ends-${expiry}`;
      expect(
        await links.create({ originalUrl, customCode: code, terms: { expires_at: expiry as never } }),
      ).toMatchObject({
        endsMs: START + lifeMs,
      });
      for (const [afterMs, expected] of [
        [lifeMs - 1, { target: originalUrl }],
        [lifeMs, { kind: "expired", endedMs: START + lifeMs }],
        [lifeMs + HOLD_MS - 1, { kind: "expired", endedMs: START + lifeMs }],
        [lifeMs + HOLD_MS, { kind: "unknown" }],
      ] as const) {
        wallMs = START + afterMs;
        expect(await links.resolve(code)).toMatchObject(expected);
      }
    });
  }

  test("reserves its code until the hold ends, and then another link can use it", async () => {
    const links = openLinks();
    const request = { originalUrl, customCode: "held", terms: { expires_at: "24h" } } as const;
    const code = parseCode("held", "match") as Code;
    await links.create(request);
    wallMs = START + DAY_MS + HOLD_MS - 1;
    expect(await links.create(request)).toEqual({ kind: "taken" });
    monotonicMs = wallMs - START;
    expect(await links.availability("held")).toEqual({
      code,
      available: false,
      free: ["held-2", "held-3", "held-4"].map((variant) => variant as Code),
    });
    wallMs += 1;
    monotonicMs += 1;
    expect(await links.availability("held")).toEqual({ code, available: true, free: [] });
    const successor = await links.create({ originalUrl: "https://example.org/", customCode: "held" });
    expect(successor).toMatchObject({ createdMs: wallMs, endsMs: NEVER_MS });
    expect(await links.resolve("held")).toMatchObject({ target: "https://example.org/", createdMs: wallMs });
  });

  test("stays ended when the clock goes back, which dates new links by the latest time", async () => {
    const links = openLinks();
    await links.create({ originalUrl, customCode: "clock", terms: { expires_at: "24h" } });
    advanceTo(DAY_MS);
    expect(await links.resolve("clock")).toMatchObject({ kind: "expired" });
    for (const backMs of [1, 3_600_000, 400 * DAY_MS]) {
      wallMs = START + DAY_MS - backMs;
      expect(await links.resolve("clock")).toMatchObject({ kind: "expired" });
    }
    expect(await links.create({ originalUrl, customCode: "frozen" })).toMatchObject({
      createdMs: START + DAY_MS,
    });
    wallMs = START + 2 * DAY_MS;
    expect(await links.create({ originalUrl, customCode: "not frozen" })).toMatchObject({ kind: "invalid" });
    expect(await links.create({ originalUrl, customCode: "not-frozen" })).toMatchObject({
      createdMs: START + 2 * DAY_MS,
    });
  });

  test("ends when the clock jumps ahead, and redirects again when it is set right", async () => {
    const links = openLinks();
    await links.create({ originalUrl, customCode: "jumped", terms: { expires_at: "24h" } });
    for (const jumpMs of [3 * DAY_MS, DAY_MS + 3_600_000]) {
      wallMs = START + jumpMs;
      expect(await links.resolve("jumped")).toMatchObject({ kind: "expired" });
      // Small steps back are still ignored.
      wallMs -= 1000;
      expect(await links.create({ originalUrl })).toMatchObject({ createdMs: START + jumpMs });
      monotonicMs += 2000;
      wallMs = START + monotonicMs;
      expect(await links.resolve("jumped")).toMatchObject({ code: "jumped" });
      expect(await links.create({ originalUrl })).toMatchObject({ createdMs: wallMs });
    }
  });
});

describe("the purge", () => {
  test("deletes at most 500 links and 50 requests per statement, until all are gone", async () => {
    const limits: Record<string, number[]> = { purge: [], forgetRequests: [] };
    const watch = (name: "purge" | "forgetRequests") => (beforeMs: number, limit: number) => {
      limits[name]?.push(limit);
      return store[name](beforeMs, limit);
    };
    const links = openLinks({
      store: { ...store, purge: watch("purge"), forgetRequests: watch("forgetRequests") },
    });
    for (let nth = 0; nth < 150; nth++)
      await links.createOnce(
        [{ originalUrl, terms: { expires_at: "24h" } }],
        { key: `bounded${nth}`, body: "body" },
        [],
      );
    advanceTo(2 * DAY_MS + HOLD_MS);
    expect(await links.purge()).toBeGreaterThanOrEqual(150);
    expect(limits).toEqual({ purge: [500], forgetRequests: [50, 50, 50, 50] });
  });

  test("deletes exactly the links whose hold has ended", async () => {
    const links = openLinks();
    await links.create({ originalUrl, customCode: "purged", terms: { expires_at: "24h" } });
    await links.create({ originalUrl, customCode: "spared", terms: { expires_at: "48h" } });
    await links.create({ originalUrl, customCode: "endless" });
    monotonicMs = DAY_MS + HOLD_MS;
    wallMs = START + monotonicMs - 1;
    await links.purge();
    expect(await store.find("purged" as never)).toBeDefined();
    wallMs += 1;
    expect(await links.purge()).toBeGreaterThanOrEqual(1);
    expect(await store.find("purged" as never)).toBeUndefined();
    expect(await store.find("spared" as never)).toBeDefined();
    expect(await store.find("endless" as never)).toBeDefined();
  });

  test("forgets a request 24 hours after it was first sent", async () => {
    const links = openLinks();
    const request = { key: "purged", body: "body" };
    const send = async () => {
      const created = await links.createOnce([{ originalUrl }], request, (await links.recall(request)) as []);
      return "kind" in created ? created : created.outcomes[0];
    };
    const first = await send();
    wallMs = START + 365 * DAY_MS;
    monotonicMs = 5000;
    // A clock that can't be right.
    await links.purge();
    expect(await send()).toEqual(first as never);
    advanceTo(DAY_MS);
    await links.purge();
    expect(await send()).toEqual(first as never);
    monotonicMs += 1;
    wallMs += 1;
    await links.purge();
    const second = await send();
    expect(second).toMatchObject({ createdMs: START + DAY_MS + 1 });
    expect(await send()).toEqual(second as never);
  });

  test("repeats its batches until nothing remains", async () => {
    const links = openLinks();
    await store.insert(
      Array.from({ length: 1300 }, (_, nth) => newLink(`old${nth}`, { endsMs: START - HOLD_MS })),
    );
    expect(await links.purge()).toBeGreaterThanOrEqual(1300);
    expect(await store.find("old1299" as never)).toBeUndefined();
  });

  test("pauses while the wall clock is more than an hour off the monotonic clock", async () => {
    const links = openLinks();
    await links.create({ originalUrl, customCode: "paused", terms: { expires_at: "24h" } });
    wallMs = START + 365 * DAY_MS;
    monotonicMs = 5000;
    expect(await links.purge()).toBe(0);
    wallMs = START - 365 * DAY_MS;
    expect(await links.purge()).toBe(0);
    expect(await store.find("paused" as never)).toBeDefined();
    monotonicMs = DAY_MS + HOLD_MS;
    wallMs = START + monotonicMs + 3_600_000;
    expect(await links.purge()).toBeGreaterThanOrEqual(1);
  });
});

test("no code is reused while the wall clock is more than an hour off the monotonic clock", async () => {
  const links = openLinks();
  const request = { originalUrl, customCode: "reserved" };
  await links.create({ ...request, terms: { expires_at: "24h" } });
  wallMs = START + 365 * DAY_MS;
  monotonicMs = 5000;
  expect(await links.create(request)).toEqual({ kind: "taken" });
  expect(await links.availability("reserved")).toMatchObject({ available: false });
  monotonicMs = DAY_MS + HOLD_MS;
  wallMs = START + monotonicMs + 3_600_000;
  expect(await links.availability("reserved")).toMatchObject({ available: true });
  expect(await links.create(request)).toMatchObject({ code: "reserved" });
});

test("counts a link once that two processes create for one request in the same millisecond", async () => {
  const [links, others] = [openLinks(), openLinks()];
  const send = async ({ createOnce }: Links) =>
    createOnce([{ originalUrl, customCode: "together" }], { key: "together", body: "body" }, []);
  expect(await send(links)).toMatchObject({ created: 1 });
  expect(await send(others)).toMatchObject({ created: 0, outcomes: [{ code: "together" }] });
});

describe("a generated code", () => {
  test("is replaced by a longer one if it is taken", async () => {
    let draws = 0;
    // The first two draws give the same code.
    const fillRandom = (bytes: Uint8Array) => void bytes.fill(++draws < 3 ? 5 : draws);
    const links = openLinks({ fillRandom });
    const first = await links.create({ originalUrl });
    const second = await links.create({ originalUrl });
    expect(first).toMatchObject({ code: "7777777" });
    expect("code" in second && second.code).toHaveLength(8);
  });

  test("is longer once 1/10,000 of its space is used", async () => {
    // The store holds more than 49^4 / 10,000 = 576 links.
    await store.insert(Array.from({ length: 600 }, (_, nth) => newLink(`full${nth}`)));
    const link = await openLinks({ codeLength: 4 }).create({ originalUrl });
    expect("code" in link && link.code).toHaveLength(5);
  });
});

describe("a blocked destination", () => {
  const blocked = (target: string) => (new URL(target).hostname === "evil.example" ? "blocklist" : undefined);

  test("is refused for new links, together with other mistakes", async () => {
    const links = openLinks({ blocked });
    expect(await links.create({ originalUrl: "https://EVIL.example:8080/", customCode: "a b" })).toEqual({
      kind: "invalid",
      refusals: [{ rule: "target.blocked", host: "evil.example" }, { rule: "code.space" }],
    });
    expect(await links.create({ originalUrl: "https://good.example/evil.example" })).toMatchObject({
      target: "https://good.example/evil.example",
    });
  });

  test("disables existing links, including ended ones, but doesn't reserve their codes", async () => {
    const request = {
      originalUrl: "https://evil.example/",
      customCode: "listed",
      terms: { expires_at: "24h" },
    } as const;
    await openLinks().create(request);
    const links = openLinks({ blocked });
    for (const afterMs of [0, DAY_MS]) {
      wallMs = START + afterMs;
      expect(await links.resolve("listed")).toEqual({ kind: "disabled", reason: "blocklist" });
      expect(await links.find("listed")).toMatchObject({ code: "listed", disabled: "blocklist" });
    }
    advanceTo(DAY_MS + HOLD_MS);
    expect(await links.resolve("listed")).toEqual({ kind: "unknown" });
    expect(await links.create({ ...request, originalUrl })).toMatchObject({ createdMs: wallMs });
  });
});

describe("a disabled link", () => {
  const decision = { who: "api", atMs: START, reason: "spam" } as const;

  test("keeps its code and is never purged, and has only its code once it is deleted", async () => {
    const links = openLinks();
    const request = { originalUrl, customCode: "held-back", terms: { expires_at: "24h" } } as const;
    await links.create(request);
    const link = { code: "held-back" as LinkKey, createdMs: START };
    await store.disable([link], decision);
    advanceTo(3 * HOLD_MS);
    await links.purge();
    expect(await links.resolve("held-back")).toEqual({ kind: "disabled", reason: "spam" });
    expect(await links.find("held-back")).toMatchObject({ disabled: "spam", target: originalUrl });
    expect(await links.availability("held-back")).toMatchObject({ available: false });
    expect(await links.create(request)).toEqual({ kind: "taken" });
    await store.erase(link, decision);
    await links.purge();
    expect(await links.resolve("held-back")).toEqual({ kind: "disabled", reason: "deleted" });
    expect(await links.find("held-back")).toEqual({ kind: "disabled", reason: "deleted" });
    expect(await links.create(request)).toEqual({ kind: "taken" });
  });
});
