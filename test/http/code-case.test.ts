import { describe, expect, test } from "bun:test";

import { ENGINES } from "../events/engines.ts";
import { callApi, createManagedLink, destinationOf, OTHER, TARGET } from "../support/managed-links.ts";
import {
  type LocalService,
  outcomeOf,
  type RunningService,
  type Settings,
  startService,
  temporaryFolder,
  toDomain,
} from "../support/service.ts";

const TOKEN = "operator-token-of-24-chars";
const IGNORE = { CODE_CASE: "ignore" };
const READER = { headers: { Accept: "text/html" } };

describe.each(ENGINES)("with CODE_CASE=ignore over %s", (_, settingsOf) => {
  async function start(settings: Settings = {}) {
    return startService({ ...(await settingsOf()), ...IGNORE, ...settings });
  }

  test("an address finds its link in any capitals, and in each domain", async () => {
    await using curt = await start({ DOMAINS: "https://go.example.com" });
    for (const code of ["Team-Wiki", "ÉCOLE", "lower"])
      await createManagedLink(curt, { target: TARGET, code });
    for (const address of [
      "Team-Wiki",
      "team-wiki",
      "TEAM-WIKI",
      "tEAM-wIKI",
      "e\u0301cole",
      "école",
      "LOWER",
    ])
      for (let times = 0; times < 2; times++)
        expect([address, await destinationOf(curt, encodeURIComponent(address))]).toEqual([address, TARGET]);
    const other = toDomain(curt, "go.example.com");
    expect(await destinationOf(other, "team-wiki")).toBe(404);
    await createManagedLink(other, { target: OTHER, code: "TEAM-Wiki" });
    expect(await destinationOf(other, "team-wiki")).toBe(OTHER);
    expect(await destinationOf(curt, "team-wiki")).toBe(TARGET);
  });

  test("a code is taken in any capitals, by one link and by the links of a batch", async () => {
    await using curt = await start();
    await createManagedLink(curt, { code: "Wiki" });
    for (const custom_code of ["wiki", "WIKI", "Wiki"])
      expect((await curt.shorten({ original_url: TARGET, custom_code })).status).toBe(409);
    const { data } = await callApi(curt, "GET", "/api/v1/codes/WIKI");
    expect(data).toMatchObject({ available: false, free: ["wiki-2", "wiki-3", "wiki-4"] });
    const items = ["Straße", "STRASSE", "strasse"].map((code) => ({ target: TARGET, code }));
    const batch = await callApi(curt, "POST", "/api/v1/links/batch", { body: items });
    expect(batch.data.results.map(({ status_code }: { status_code: number }) => status_code)).toEqual([
      201, 409, 409,
    ]);
  });

  test("a link is shown as its code was written, under every spelling", async () => {
    await using curt = await start({ ADMIN_TOKEN: TOKEN });
    const { key, data } = await createManagedLink(curt, { code: "Team-Wiki" });
    const shown = { code: "Team-Wiki", short_url: "https://curt.example/Team-Wiki/" };
    expect(data).toMatchObject(shown);
    for (const spelling of ["Team-Wiki", "team-wiki", "TEAM-WIKI"]) {
      const path = `/api/v1/links/${spelling}`;
      expect((await callApi(curt, "GET", path)).data).toMatchObject(shown);
      expect((await callApi(curt, "GET", `${path}/stats`)).data.code).toBe("Team-Wiki");
      const inspected = await callApi(curt, "GET", `/api/v1/admin/links/${spelling}`, { key: TOKEN });
      expect(inspected.data.code).toBe("Team-Wiki");
      const found = await callApi(curt, "GET", `/api/v1/admin/links?q=${spelling.slice(0, 6)}`, {
        key: TOKEN,
      });
      expect(found.data.links).toMatchObject([{ code: "Team-Wiki" }]);
      for (const page of ["+", "+qr", "+report"]) {
        const text = await (await curt.fetch(`/${spelling}${page}`, READER)).text();
        expect(text.replaceAll(/<[^>]+>/g, "")).toContain("curt.example/Team-Wiki");
        expect(text).not.toContain("/team-wiki");
      }
    }
    const changed = await callApi(curt, "PATCH", "/api/v1/links/TEAM-wiki", { key, body: { target: OTHER } });
    expect(changed.data).toMatchObject({ ...shown, target: OTHER });
    expect(await destinationOf(curt, "team-WIKI")).toBe(OTHER);
    const { headers } = await callApi(curt, "GET", "/api/v1/admin/links/team-wiki", { key: TOKEN });
    const erase = { key: TOKEN, ifMatch: headers.get("etag") ?? "" };
    const erased = await callApi(curt, "DELETE", "/api/v1/admin/links/TEAM-WIKI?confirm=Team-wiki", erase);
    expect([erased.status, await destinationOf(curt, "Team-Wiki")]).toEqual([200, 410]);
  });

  test("a retry gets the code as it was written", async () => {
    await using curt = await start();
    const create = () =>
      curt.fetch("/api/v1/links", {
        method: "POST",
        headers: { "Idempotency-Key": "a-key-of-more-than-16" },
        body: JSON.stringify({ target: TARGET, code: "Retry" }),
      });
    const [first, second] = [await (await create()).json(), await (await create()).json()];
    expect(second).toEqual(first);
    expect(first).toMatchObject({ data: { code: "Retry" } });
  });

  test("visits in other capitals count for one link, and use up its limit", async () => {
    await using curt = await start();
    await createManagedLink(curt, { code: "Once", max_visits: 2 });
    expect(await destinationOf(curt, "once")).toBe(TARGET);
    expect(await destinationOf(curt, "ONCE")).toBe(TARGET);
    expect(await destinationOf(curt, "Once")).toBe(410);
  });

  test("a generated code has 8 characters without capitals", async () => {
    await using curt = await start();
    const response = await curt.shorten({ original_url: TARGET });
    const { data } = (await response.json()) as { data: { code: string } };
    expect(data.code).toMatch(/^[2-9b-z]{8}$/);
    expect(await destinationOf(curt, data.code.toUpperCase())).toBe(TARGET);
  });
});

describe.each(ENGINES)("CODE_CASE over %s", (_, settingsOf) => {
  test.each([
    ["match", "ignore"],
    ["ignore", "match"],
  ] as const)(
    "changes from %s to %s until the first link, also of a store that is served",
    async (former, other) => {
      const own = await settingsOf();
      using folder = temporaryFolder();
      const startWith = (CODE_CASE: string) =>
        startService({ ...own, CODE_CASE, DATA_DIR: folder.path }, { folder: folder.path });
      await using before = await startWith(former);
      before.expectFaults();
      await using curt = await startWith(other);
      const create = (service: LocalService, custom_code: string) =>
        service.shorten({ original_url: TARGET, custom_code });
      // By the former rule, nobody would find its link.
      for (const code of ["Former", "former"])
        expect(await outcomeOf(create(before, code))).toBe("503 store.unavailable");
      expect((await create(curt, "Wiki")).status).toBe(201);
      expect(await destinationOf(curt, "wiki")).toBe(other === "ignore" ? TARGET : 404);
      expect((await create(before, "Former")).status).toBe(503);
      const refusal = await startWith(former).then(
        () => "started",
        (error: unknown) => String(error),
      );
      expect(refusal).toContain(`CODE_CASE must be ${other}`);
    },
  );

  test("of simultaneous first links, only those of one rule are created", async () => {
    for (let times = 0; times < 3; times++) {
      const own = await settingsOf();
      using folder = temporaryFolder();
      const startWith = (CODE_CASE: string) =>
        startService({ ...own, CODE_CASE, DATA_DIR: folder.path }, { folder: folder.path });
      await using matching = await startWith("match");
      matching.expectFaults();
      const creates = [1, 2, 3, 4, 5].map((nth) =>
        matching.shorten({ original_url: TARGET, custom_code: `Code${nth}` }),
      );
      const ignoring = await startWith("ignore").catch((error: unknown) => error);
      const statuses = new Set((await Promise.all(creates)).map(({ status }) => status));
      expect([...statuses]).toEqual([ignoring instanceof Error ? 201 : 503]);
      if (!(ignoring instanceof Error)) await (ignoring as RunningService)[Symbol.asyncDispose]();
    }
  });

  test.each([
    ["match", "ignore"],
    ["ignore", "match"],
  ] as const)("is refused if the store has a link with %s", async (kept, other) => {
    using folder = temporaryFolder();
    const own = { ...(await settingsOf()), DATA_DIR: folder.path };
    const startWith = (CODE_CASE: string) => startService({ ...own, CODE_CASE }, { folder: folder.path });
    for (let times = 0; times < 2; times++) {
      {
        await using curt = await startWith(kept);
        await curt.shorten({ original_url: TARGET, custom_code: `a${times}` });
      }
      const refusal = await startWith(other).then(
        () => "started",
        (error: unknown) => String(error),
      );
      expect(refusal).toContain(`CODE_CASE must be ${kept}`);
    }
  });
});
