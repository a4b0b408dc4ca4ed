import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";

import en from "../../src/locales/en.json";
import {
  callApi,
  type ManagedLink,
  createManagedLink,
  OTHER,
  TARGET,
  destinationOf,
} from "../support/managed-links.ts";
import { outcomeOf, shareService, startService } from "../support/service.ts";
import { beginRequest } from "./raw.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = DAY_MS / 24;

const curt = shareService();

const otherKey = async () => (await createManagedLink(curt)).key;

describe("PATCH /api/v1/links/{code}", () => {
  test("changes the destination immediately, and returns the changed link", async () => {
    const { code, path, key, data } = await createManagedLink(curt);
    expect(await destinationOf(curt, code)).toBe(TARGET);
    const changed = await callApi(curt, "PATCH", path, { key, body: { target: OTHER } });
    const changedAt = changed.data["changed_at"];
    expect([changed.status, changed.message]).toEqual([200, en["link.changed"]]);
    const difference = { target: OTHER, changed_at: changedAt, visits: expect.any(Number) };
    expect(changed.data).toEqual({ ...data, ...difference });
    expect(Math.abs(Date.parse(changedAt) - curt.nowMs())).toBeLessThan(60_000);
    expect(changed.headers.get("cache-control")).toBe("no-store");
    expect(changed.headers.get("vary")).toContain("Authorization");
    expect(await destinationOf(curt, code)).toBe(OTHER);
    expect((await callApi(curt, "GET", path)).data).toMatchObject({ target: OTHER, changed_at: changedAt });
  });

  test("keeps the fields that aren't sent, and removes those that are null", async () => {
    const { code, path, key, data } = await createManagedLink(curt, {
      expires_at: "24h",
      max_visits: 5,
      password: "p",
    });
    const change = async (body: object) => (await callApi(curt, "PATCH", path, { key, body })).data;
    expect(await change({})).toEqual(data);
    expect(await change({ expires_at: null })).toEqual({ ...data, expires_at: null });
    expect(await change({ password: null })).toEqual({ ...data, expires_at: null, has_password: false });
    const expires_at = new Date(curt.nowMs() + DAY_MS).toISOString();
    const withEnd = { max_visits: null, visits_used: null, expires_at, has_password: false };
    expect(await change({ max_visits: null, expires_at })).toEqual({ ...data, ...withEnd });
    expect(await destinationOf(curt, code)).toBe(TARGET);
  });

  test("counts new destinations against LIMIT_CREATE, and nothing else", async () => {
    await using limited = await startService({ LIMIT_CREATE: "2/1h" });
    const { path, key } = await createManagedLink(limited);
    const change = (body: object) => callApi(limited, "PATCH", path, { key, body });
    expect((await change({ target: "nonsense" })).status).toBe(400);
    expect((await change({ target: OTHER })).status).toBe(200);
    expect(await outcomeOf(change({ target: TARGET }))).toBe("429 limit.create");
    for (const body of [{ expires_at: "24h" }, { target: OTHER }, { max_visits: 3 }])
      expect((await change(body)).status).toBe(200);
  });

  test("moves the start of a scheduled link or starts it right away, and refuses to move the start of a started one", async () => {
    const { code, path, key } = await createManagedLink(curt, { starts_at: "48h", expires_at: "1week" });
    const change = (body: object) => callApi(curt, "PATCH", path, { key, body });
    const starts_at = new Date(curt.nowMs() + HOUR_MS).toISOString();
    const moved = await change({ starts_at });
    expect(moved.status).toBe(200);
    expect(moved.data["starts_at"]).toBe(starts_at);
    expect(moved.data["state"]).toBe("scheduled");
    expect(await destinationOf(curt, code)).toBe(404);
    const past = new Date(curt.nowMs() - HOUR_MS).toISOString();
    for (const [body, reasons] of [
      [{ starts_at: past }, "starts_at.past"],
      [{ starts_at: "1month" }, "expires_at.before-start"],
      [{ starts_at: "soon", expires_at: "late" }, "expires_at.format, starts_at.format"],
      [{ starts_at: past, max_visits: 0, target: "x" }, "target.scheme, starts_at.past, max_visits.range"],
    ] as const)
      expect([body, (await change(body)).reason]).toEqual([body, reasons]);
    expect((await callApi(curt, "GET", path, { key })).data["starts_at"]).toBe(starts_at);
    const startMs = curt.nowMs();
    const started = await change({ starts_at: null, max_visits: 7 });
    expect(started.data["state"]).toBe("active");
    expect(Math.abs(Date.parse(started.data["starts_at"]) - startMs)).toBeLessThan(HOUR_MS / 4);
    expect(await destinationOf(curt, code)).toBe(TARGET);
    // A retry after a lost response still succeeds, and so does the current start.
    for (const repeated of [null, started.data["starts_at"]])
      expect((await change({ starts_at: repeated })).status).toBe(200);
    for (const later of ["24h", starts_at, past]) {
      expect(await outcomeOf(change({ starts_at: later, max_visits: 9 }))).toBe("400 starts_at.started");
    }
    const { data } = await callApi(curt, "GET", path, { key });
    expect(data).toMatchObject({ starts_at: started.data["starts_at"], max_visits: 7 });
  });

  test("changes the destination as long as EDITS allows, and everything else at any time", async () => {
    for (const [EDITS, atFirst, later] of [
      ["on", 200, 200],
      ["24h", 200, 403],
      ["off", 403, 403],
    ] as const) {
      await using instance = await startService({ EDITS }, { standsStill: true });
      const { path, key, code } = await createManagedLink(instance);
      const change = (body: object) => callApi(instance, "PATCH", path, { key, body });
      expect((await change({ target: OTHER })).status, EDITS).toEqual(atFirst);
      instance.advance(DAY_MS - 1000);
      expect((await change({ target: `${OTHER}2` })).status, EDITS).toEqual(atFirst);
      instance.advance(1000);
      const refusal = await change({ target: `${OTHER}3` });
      expect([refusal.status, refusal.reason], EDITS).toEqual([later, later === 403 ? "edits.closed" : null]);
      // The same target isn't a new one.
      const now = (await callApi(instance, "GET", path)).data["target"];
      expect((await change({ target: now, expires_at: "1week", max_visits: 3, password: "p" })).status).toBe(
        200,
      );
      expect((await callApi(instance, "DELETE", path, { key })).status).toBe(200);
      expect(await destinationOf(instance, code)).toBe(410);
    }
  });

  test("doesn't take back a change of the destination once EDITS allows none, even if the request started before", async () => {
    await using instance = await startService({ EDITS: "24h" }, { standsStill: true });
    const { path, key, code } = await createManagedLink(instance);
    const authorization = { Authorization: `Bearer ${key}` };
    const body = JSON.stringify({ target: TARGET });
    const { hasStarted, end } = beginRequest(instance, `PATCH ${path}`, authorization, body);
    await hasStarted;
    expect((await callApi(instance, "PATCH", path, { key, body: { target: OTHER } })).status).toBe(200);
    instance.advance(DAY_MS);
    expect([await end(), await destinationOf(instance, code)]).toEqual([403, OTHER]);
  });
});

test("DELETE /api/v1/links/{code} withdraws a link permanently at all its addresses, and holds its code for 30 days", async () => {
  const { code, path, key } = await createManagedLink(curt);
  expect(await destinationOf(curt, code)).toBe(TARGET);
  const ended = await callApi(curt, "DELETE", path, { key });
  expect([ended.status, ended.message, ended.data["state"]]).toEqual([200, en["link.ended"], "withdrawn"]);
  for (const address of ["", "/", "+", ".svg", ".png", "+report"].map((rest) => `/${code}${rest}`)) {
    expect(await outcomeOf(curt.fetch(address)), address).toBe("410 link.withdrawn");
    const page = await curt.fetch(address, { headers: { Accept: "text/html" } });
    expect([page.status, (await page.text()).includes("example.com/a")], address).toEqual([410, false]);
  }
  expect((await callApi(curt, "GET", `${path}/stats`)).reason).toBe("link.withdrawn");
  const report = { body: { reason: "spam" } };
  expect((await callApi(curt, "POST", `${path}/reports`, report)).reason).toBe("link.withdrawn");
  // Its manage key still reads it.
  const { data: withdrawn } = await callApi(curt, "GET", path, { key });
  expect(withdrawn).toMatchObject({ state: "withdrawn", target: TARGET });
  expect((await callApi(curt, "GET", `${path}/stats`, { key })).status).toBe(200);
  expect((await callApi(curt, "POST", "/api/v1/links", { body: { target: TARGET, code } })).status).toBe(409);
  curt.advance(30 * DAY_MS);
  expect((await callApi(curt, "GET", path, { key })).status).toBe(404);
  const recreated = await callApi(curt, "POST", "/api/v1/links", { body: { target: OTHER, code } });
  expect(recreated.status).toBe(201);
  expect(recreated.data["manage_key"]).not.toBe(key);
  expect((await callApi(curt, "PATCH", path, { key, body: {} })).reason).toBe("key.wrong");
});

test("If-None-Match: * answers 412, because the link exists", async () => {
  const { path, key } = await createManagedLink(curt);
  for (const method of ["PATCH", "DELETE"]) {
    const response = await curt.fetch(path, {
      method,
      headers: { Authorization: `Bearer ${key}`, "If-None-Match": "*" },
      ...(method === "PATCH" && { body: JSON.stringify({ max_visits: 1 }) }),
    });
    expect(response.status).toBe(412);
  }
});

test("statistics up to the first day of the year 0 start on that day", async () => {
  const { path } = await createManagedLink(curt);
  const { status, data } = await callApi(curt, "GET", `${path}/stats?to=0000-01-01`);
  expect([status, data["from"], data["to"]]).toEqual([200, "0000-01-01", "0000-01-01"]);
});

describe("If-Match", () => {
  const send = (path: string, method: string, key: string, match: string, body?: object) =>
    curt.fetch(path, {
      method,
      headers: { Authorization: `Bearer ${key}`, "If-Match": match },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });

  test("lets one of two changes with the same tag pass, and answers 412 with the current tag to the other", async () => {
    const { path, key } = await createManagedLink(curt);
    const tag = (await curt.fetch(path)).headers.get("etag") ?? "";
    expect(tag).toMatch(/^"\w+"$/);
    const responses = await Promise.all(
      [OTHER, `${OTHER}2`].map((target) => send(path, "PATCH", key, tag, { target })),
    );
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 412]);
    const now = (await curt.fetch(path)).headers.get("etag");
    expect(now).not.toBe(tag);
    expect(responses.map(({ headers }) => headers.get("etag"))).toEqual([now, now]);
    expect((await send(path, "DELETE", key, tag)).status).toBe(412);
    expect((await send(path, "DELETE", key, String(now))).status).toBe(200);
    // A retry has a tag from before, and must see that the link is withdrawn.
    expect((await send(path, "DELETE", key, String(now))).status).toBe(410);
  });

  test("accepts strong tags only", async () => {
    const { path, key } = await createManagedLink(curt);
    const tag = (await curt.fetch(path)).headers.get("etag") ?? "";
    expect((await send(path, "DELETE", key, `W/${tag}`)).status).toBe(412);
    expect((await send(path, "DELETE", key, `W/${tag}, ${tag}`)).status).toBe(200);
  });

  test("accepts * for any state of the link, refuses an outdated tag, and keeps the tag after a visit", async () => {
    const { code, path, key } = await createManagedLink(curt, { max_visits: 5 });
    const tag = (await curt.fetch(path)).headers.get("etag") ?? "";
    await destinationOf(curt, code);
    expect((await curt.fetch(path)).headers.get("etag")).toBe(tag);
    expect((await send(path, "PATCH", key, "*", { password: "open" })).status).toBe(200);
    expect((await send(path, "PATCH", key, tag, { password: null })).status).toBe(412);
    expect((await send(path, "PATCH", key, `W/${tag}`, { password: null })).status).toBe(412);
  });
});

describe("a manage key", () => {
  test("counts against LIMIT_UNKNOWN if it is wrong", async () => {
    await using limited = await startService({ LIMIT_UNKNOWN: "3/1h" });
    const { path, key } = await createManagedLink(limited);
    const attempt = async (given: string, method = "PATCH") =>
      (await callApi(limited, method, path, { key: given })).reason;
    expect([await attempt("a"), await attempt("b", "GET"), await attempt("c", "DELETE")]).toEqual(
      Array.from({ length: 3 }, () => "key.wrong"),
    );
    expect(await attempt("d")).toBe("limit.unknown");
    expect((await callApi(limited, "DELETE", "/api/v1/links/nothing", { key })).reason).toBe("limit.unknown");
    expect((await callApi(limited, "PATCH", path, { key, body: {} })).status).toBe(200);
  });

  test("shows the whole link before its start and in spite of its password", async () => {
    const starts_at = new Date(curt.nowMs() + DAY_MS).toISOString();
    const { path, key } = await createManagedLink(curt, { starts_at, password: "p" });
    expect((await callApi(curt, "GET", path)).status).toBe(404);
    const lookUp = await callApi(curt, "GET", path, { key });
    expect(lookUp.data).toMatchObject({ state: "scheduled", starts_at, target: TARGET, has_password: true });
    expect(Object.keys(lookUp.data)).not.toContain("manage_key");
    expect(JSON.stringify(lookUp.data)).not.toContain("argon2");
    expect(lookUp.headers.get("cache-control")).toBe("no-cache");
    expect(lookUp.headers.get("vary")).toContain("Authorization");
  });

  test("gets responses that readers without it never share", async () => {
    await using sharing = await startService({}, { limits: { views: { sharedMs: 60_000 } } });
    const { path, key } = await createManagedLink(sharing, { password: "p" });
    const targets = [];
    for (const given of [undefined, key, undefined, key, undefined])
      targets.push((await callApi(sharing, "GET", path, { key: given })).data["target"]);
    expect(targets).toEqual([null, TARGET, null, TARGET, null]);
  });

  test("changes shared responses under every spelling of the code immediately", async () => {
    await using sharing = await startService({}, { limits: { views: { sharedMs: 60_000 } } });
    const code = "카페";
    const { key } = await createManagedLink(sharing, { code });
    const path = `/api/v1/links/${encodeURIComponent(code)}`;
    const other = encodeURIComponent(code.normalize("NFD"));
    const shown = async () => (await callApi(sharing, "GET", path)).data?.["target"];
    const preview = async () =>
      (await (await sharing.fetch(`/${other}+`)).text()).includes(new URL(OTHER).host);
    expect([await shown(), await preview()]).toEqual([TARGET, false]);
    await callApi(sharing, "PATCH", path, { key, body: { target: OTHER } });
    expect([await shown(), await preview()]).toEqual([OTHER, true]);
    await callApi(sharing, "DELETE", path, { key });
    expect((await callApi(sharing, "GET", path)).status).toBe(410);
  });

  test("can't be replaced by CREATE_TOKEN, which GET ignores and PATCH refuses", async () => {
    const CREATE_TOKEN = "a-token-of-sixteen-characters";
    await using closed = await startService({ CREATE_TOKEN });
    const body = { target: TARGET, code: "mine" };
    const { data } = await callApi(closed, "POST", "/api/v1/links", { key: CREATE_TOKEN, body });
    expect((await callApi(closed, "GET", "/api/v1/links/mine", { key: CREATE_TOKEN })).status).toBe(200);
    expect(
      (await callApi(closed, "PATCH", "/api/v1/links/mine", { key: CREATE_TOKEN, body: {} })).status,
    ).toBe(403);
    const changed = await callApi(closed, "PATCH", "/api/v1/links/mine", {
      key: data["manage_key"],
      body: { target: OTHER },
    });
    expect(changed.status).toBe(200);
  });

  test("is never logged, and neither are passwords", async () => {
    await using logging = await startService();
    const { path, key, code } = await createManagedLink(logging, { password: "a password of mine" });
    for (const method of ["GET", "PATCH", "DELETE", "PUT"])
      for (const given of [key, `${key}x`])
        await logging.fetch(path, {
          method,
          headers: { Authorization: `Bearer ${given}` },
          ...(method !== "GET" && { body: "{" }),
        });
    await callApi(logging, "PATCH", path, { key, body: { target: OTHER, password: "another one" } });
    await destinationOf(logging, code);
    expect(logging.logged.join("")).toContain(code);
    for (const secret of [key, "a password of mine", "another one"])
      expect(logging.logged.join("")).not.toContain(secret);
  });
});

describe("the state of a link", () => {
  const links = shareService({}, { standsStill: true });
  const wait = (days: number) => () => links.advance(days * DAY_MS);
  const withdraw = ({ path, key }: ManagedLink) => callApi(links, "DELETE", path, { key });
  const UNKNOWN = "404 link.unknown";

  test.each<[string, object, (link: ManagedLink) => unknown, string, string]>([
    ["active", {}, () => {}, `302 ${TARGET}`, "200"],
    ["scheduled", { starts_at: "24h" }, () => {}, UNKNOWN, UNKNOWN],
    ["expired", { expires_at: "24h" }, wait(1), "410 link.expired", "200"],
    ["used_up", { max_visits: 1 }, ({ code }) => destinationOf(links, code), "410 link.used-up", "200"],
    ["withdrawn", {}, withdraw, "410 link.withdrawn", "410 link.withdrawn"],
    ["no longer held", { expires_at: "24h" }, wait(31), UNKNOWN, UNKNOWN],
  ])("decides the responses to visitors and readers: %s", async (state, terms, prepare, visit, read) => {
    const link = await createManagedLink(links, terms);
    const { code, path, key } = link;
    await prepare(link);
    expect(await outcomeOf(links.fetch(`/${code}`))).toBe(visit);
    expect(await outcomeOf(callApi(links, "GET", path))).toBe(read);
    const lookUp = await callApi(links, "GET", path, { key });
    const isGone = lookUp.status === 404;
    expect(isGone ? "no longer held" : lookUp.data["state"]).toBe(state);
    for (const [given, outcome] of [
      [undefined, "401 key.missing"],
      [await otherKey(), isGone ? UNKNOWN : "403 key.wrong"],
    ] as const)
      for (const method of ["PATCH", "DELETE"])
        expect(await outcomeOf(callApi(links, method, path, { key: given, body: {} })), method).toBe(outcome);
  });
});

test("PATCH and DELETE change nothing if the visits in their response can't be read", async () => {
  await using own = await startService();
  own.expectFaults();
  const links = [await createManagedLink(own), await createManagedLink(own)] as const;
  using database = new Database(own.file);
  database.run("ALTER TABLE visits RENAME TO unreadable");
  const [edited, withdrawn] = links;
  const edit = callApi(own, "PATCH", edited.path, { key: edited.key, body: { target: OTHER } });
  const withdrawal = callApi(own, "DELETE", withdrawn.path, { key: withdrawn.key });
  for (const { status } of [await edit, await withdrawal]) expect(status).toBeGreaterThanOrEqual(500);
  for (const { code } of links) expect(await destinationOf(own, code)).toBe(TARGET);
});
