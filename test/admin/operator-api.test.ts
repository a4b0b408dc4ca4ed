import { describe, expect, test } from "bun:test";

import { DAY_MS } from "../../src/links/time.ts";
import en from "../../src/locales/en.json";
import { callApi as changeLink, createManagedLink } from "../support/managed-links.ts";
import { outcomeOf, type Settings, shareService, startService } from "../support/service.ts";
import { visit } from "../visits/visits.ts";
import { addMany, type Operate, operateAs, report, TOKEN } from "./operator.ts";

const original_url = "https://example.com/somewhere";

const curt = shareService({ ADMIN_TOKEN: TOKEN, TRUSTED_PROXIES: "127.0.0.1" });
const operate = operateAs(curt);
/** The number of a decision in the operator's journal. */
const id = expect.any(Number);

/** A service of the test's own, whose `operate` sends requests to the operator's API. */
async function startOwn(settings: Settings = {}) {
  const service = await startService({ ADMIN_TOKEN: TOKEN, ...settings });
  return Object.assign(service, { operate: operateAs(service) });
}

const createLink = async (target = original_url) => (await createManagedLink(curt, { target })).code;

let client = 0;
const OPERATIONS = [
  ["GET", "links"],
  ["GET", "links/any"],
  ["PATCH", "links/any"],
  ["POST", "links/any/disable"],
  ["POST", "links/any/enable"],
  ["DELETE", "links/any?confirm=any"],
  ["POST", "links/disable?q=any"],
  ["POST", "links/enable?q=any"],
  ["GET", "hosts"],
  ["PUT", "hosts/example.com"],
  ["DELETE", "hosts/example.com"],
  ["GET", "cases"],
  ["POST", "cases/any"],
  ["GET", "figures"],
  ["GET", "journal"],
  ["POST", "decisions/1/undo"],
] as const;

describe("the operator's API", () => {
  test.each(OPERATIONS)("%s %s needs the token", async (method, path) => {
    for (const authorization of [
      undefined,
      "",
      `Basic ${TOKEN}`,
      TOKEN,
      `Bearer ${TOKEN}x`,
      "Bearer \u00ff",
    ]) {
      // Each client may guess a few times only.
      const from = { "X-Forwarded-For": `2001:db8:0:${(client++).toString(16)}::1` };
      const headers = { ...from, ...(authorization !== undefined && { Authorization: authorization }) };
      const body = { body: JSON.stringify({ reason: "spam", action: "nothing", count: 1 }) };
      const request = { method, headers, ...(method !== "GET" && body) };
      const response = await curt.fetch(`/api/v1/admin/${path}`, request);
      expect([authorization, response.status]).toEqual([authorization, 401]);
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      expect(await response.json()).toMatchObject({ status: "error", errors: [{ field: null }] });
    }
    const { data } = await operate("GET", "journal");
    expect(data.entries).toEqual([]);
  });

  test("doesn't exist without ADMIN_TOKEN", async () => {
    await using closed = await startService();
    for (const [method, path] of OPERATIONS)
      for (const token of ["", TOKEN, "null"]) {
        const { status, headers, message } = await operateAs(closed, token)(method, path);
        expect([status, message], `${method} ${path}`).toEqual([404, en["not-found"]]);
        expect(headers.get("www-authenticate")).toBeNull();
      }
  });

  test("is closed to scripts of other origins, and no cache stores its responses", async () => {
    const Origin = "https://elsewhere.example";
    for (const headers of [{ Origin, Authorization: `Bearer ${TOKEN}` }, { Origin }]) {
      const response = await curt.fetch("/api/v1/admin/links", { headers });
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
      expect(response.headers.get("access-control-allow-credentials")).toBeNull();
      expect(response.headers.get("cache-control")).toBe("no-store");
    }
    const requested = {
      "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers": "authorization",
    };
    const path = "/api/v1/admin/links/any/disable";
    const preflight = await curt.fetch(path, { method: "OPTIONS", headers: { Origin, ...requested } });
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
    expect(preflight.headers.get("access-control-allow-methods")).toBeNull();
    // The public API stays open.
    const open = await curt.fetch("/api/v1/shorten", { headers: { Origin } });
    expect(open.headers.get("access-control-allow-origin")).toBe("*");
  });

  test("answers 405 with Allow to other methods", async () => {
    const wrong = await operate("PUT", "links/any");
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get("allow")).toBe("GET, HEAD, PATCH, DELETE, OPTIONS");
    expect((await operate("POST", "links/any", {})).status).toBe(405);
  });

  test("logs neither wrong tokens nor the right one", async () => {
    await operate("GET", "links");
    await operateAs(curt, "a-guess-of-somebody")("GET", "links");
    expect(curt.logged.join("\n")).not.toMatch(new RegExp(`${TOKEN}|a-guess`));
  });
});

describe("a link in the operator's API", () => {
  test("is shown with its visits, its reports, its history and the rule of its host", async () => {
    const code = await createLink("https://shown.example/");
    await visit(curt, code);
    await report(curt, code, { reason: "spam", note: "I get it every day." });
    await operate("POST", `links/${code}/disable`, { reason: "spam", note: "seen" });
    const { status, data } = await operate("GET", `links/${code}`);
    expect(status).toBe(200);
    expect(data).toMatchObject({
      code,
      target: "https://shown.example/",
      location: "https://shown.example/",
      state: "disabled",
      disabled_reason: "spam",
      blocked: null,
      case: { state: "answered", reports: 1, reasons: { spam: 1 }, notes: [{ note: "I get it every day." }] },
      history: [{ who: "api", action: "disable", reason: "spam", note: "seen", code, host: null }],
    });
    await operate("PUT", "hosts/shown.example", { reason: "malware" });
    for (let seen: any; seen?.visits !== 1 || seen.blocked !== "malware"; await Bun.sleep(10))
      seen = (await operate("GET", `links/${code}`)).data;
  });

  test("changes its target and end even if EDITS is off, by the rules for makers, but no other field and not while it is disabled", async () => {
    await using closed = await startOwn({ EDITS: "off" });
    await closed.shorten({ original_url, custom_code: "moved" });
    const change = (body: unknown) => closed.operate("PATCH", "links/moved", body);
    const target = "https://new.example/shop";
    const changed = await change({ target, expires_at: "24h", note: "by phone" });
    expect([changed.status, changed.data]).toEqual([200, { code: "moved", changed: true, id }]);
    expect((await change({ target })).data).toEqual({ code: "moved", changed: false, id: null });
    for (const [body, message] of [
      [{ target: "ftp://new.example/" }, /^target: /],
      [{ expires_at: "2001-01-01T00:00:00Z" }, /^expires_at: /],
      [{ password: "secret" }, /^password: /],
      [{ note: "x".repeat(2001) }, /^note: /],
    ] as const) {
      const refusal = await change(body);
      expect([body, refusal.status, refusal.message]).toEqual([body, 400, expect.stringMatching(message)]);
    }
    const { data } = await closed.operate("GET", "links/moved");
    expect(data).toMatchObject({ target, former_host: "example.com" });
    expect(data.history).toMatchObject([{ who: "api", action: "change", code: "moved", note: "by phone" }]);
    await closed.operate("POST", "links/moved/disable", { reason: "spam" });
    expect((await change({ target: original_url })).status).toBe(410);
  });

  test("isn't changed, disabled, deleted or judged at an older revision (412) or without one (428)", async () => {
    const { code, key, path: managed } = await createManagedLink(curt);
    await report(curt, code, { reason: "phishing" });
    const seen = await operate("GET", `links/${code}`);
    expect(seen.headers.get("etag")).toBe(`"${seen.data.revision}"`);
    const listed = (await operate("GET", "cases")).data.cases.find((one: any) => one.code === code);
    expect(listed.link.revision).toBe(seen.data.revision);
    await changeLink(curt, "PATCH", managed, { key, body: { target: "https://www.google.com/" } });
    const now = await operate("GET", `links/${code}`);
    const decisions = [
      ["PATCH", `links/${code}`, { expires_at: "24h" }],
      ["POST", `links/${code}/disable`, { reason: "spam" }],
      ["POST", `links/${code}/enable`, {}],
      ["DELETE", `links/${code}?confirm=${code}`, {}],
      ["POST", `cases/${code}`, { action: "disable", reason: "phishing" }],
      ["POST", `cases/${code}`, { action: "block-host", reason: "phishing" }],
      ["POST", `cases/${code}`, { action: "nothing" }],
      ["POST", `cases/${code}`, { action: "reopen" }],
    ] as const;
    for (const [method, path, body] of decisions) {
      const refusal = await operate(method, path, body, `"${seen.data.revision}"`);
      expect([refusal.status, refusal.reason], `${method} ${path}`).toEqual([412, "precondition.failed"]);
      expect(refusal.headers.get("etag")).toBe(`"${now.data.revision}"`);
      const bare = await curt.fetch(`/api/v1/admin/${path}`, {
        method,
        headers: { Authorization: `Bearer ${TOKEN}` },
        body: JSON.stringify(body),
      });
      expect([bare.status, bare.headers.get("curt-reason")]).toEqual([428, "precondition.required"]);
    }
    expect((await operate("GET", `links/${code}`)).data).toEqual(now.data);
    expect((await curt.shorten({ original_url: "https://www.google.com/" })).status).toBe(201);
    const [method, path, body] = decisions[0];
    expect((await operate(method, path, body, `"other", "${now.data.revision}"`)).data.changed).toBe(true);
  });

  test("isn't disabled when its case is reopened, even with a reason", async () => {
    const code = await createLink();
    await report(curt, code, { reason: "spam" });
    expect((await operate("POST", `cases/${code}`, { action: "nothing" })).status).toBe(200);
    expect((await operate("POST", `cases/${code}`, { action: "reopen", reason: "spam" })).status).toBe(200);
    expect((await operate("GET", `links/${code}`)).data).toMatchObject({
      state: "active",
      case: { state: "open" },
    });
  });

  test("has another revision than an earlier link with its code", async () => {
    await using own = await startOwn({ CODE_HOLD: "0s" });
    const body = { original_url, custom_code: "again", expire_duration: "24h" };
    await own.shorten(body);
    const { revision } = (await own.operate("GET", "links/again")).data;
    own.advance(DAY_MS);
    expect((await own.shorten({ ...body, original_url })).status).toBe(201);
    const refusal = await own.operate("POST", "links/again/disable", { reason: "spam" }, `"${revision}"`);
    expect(refusal.status).toBe(412);
  });

  test("is deleted only if its code is confirmed", async () => {
    const code = await createLink();
    for (const query of ["", "?confirm=", "?confirm=yes", `?confirm=${code}x`])
      expect(await outcomeOf(operate("DELETE", `links/${code}${query}`)), query).toBe("400 operator.confirm");
    const deleted = await operate("DELETE", `links/${code}?confirm=${code}`);
    expect(deleted.data).toEqual({ code, changed: true, id });
  });

  test("is found by any code, even the name of an operation", async () => {
    const spellings = ["disable", "enable", "한글🏳️‍🌈", "figures"];
    for (const code of spellings) {
      expect((await curt.shorten({ original_url, custom_code: code })).status).toBe(201);
      const path = `links/${encodeURIComponent(code)}`;
      expect((await operate("GET", path)).data.state).toBe("active");
      expect((await operate("POST", `${path}/disable`, { reason: "other" })).data.changed).toBe(true);
      const deleted = await operate("DELETE", `${path}?confirm=${encodeURIComponent(code.normalize("NFD"))}`);
      expect(deleted.data.changed).toBe(true);
    }
  });

  test("gets 404 if its code is unknown, and invalid requests get 400 with the rule that they break", async () => {
    for (const [method, path, body] of [
      ["GET", "links/unknown-code", undefined],
      ["PATCH", "links/unknown-code", {}],
      ["POST", "links/unknown-code/disable", { reason: "spam" }],
      ["POST", "links/unknown-code/enable", undefined],
      ["DELETE", "links/unknown-code?confirm=unknown-code", undefined],
      ["POST", "cases/unknown-code", { action: "nothing" }],
    ] as const)
      expect((await operate(method, path, body)).status, path).toEqual(404);
    const code = await createLink();
    for (const [path, body, refusal] of [
      [`links/${code}/disable`, {}, "400 field.required"],
      [`links/${code}/disable`, undefined, "400 field.required"],
      [`links/${code}/disable`, { reason: "ugly" }, "400 field.values"],
      [`links/${code}/disable`, { reason: "spam", note: 7 }, "400 field.type"],
      [`links/${code}/disable`, { reason: "spam", note: "가".repeat(2001) }, "400 note.too-long"],
      [`links/${code}/disable`, { reason: "spam", note: "\uD800" }, "400 note.ill-formed"],
      [`links/${code}/disable`, [], "400 body.object"],
      ["links/disable?q=any", { reason: "spam", count: "60" }, "400 field.type"],
      ["links/disable?q=any", { reason: "spam", count: 1, until: 7 }, "400 field.type"],
      ["links/disable?q=any", { reason: "spam", count: 1, until: "yesterday" }, "400 query.date"],
      [`cases/${code}`, {}, "400 field.required"],
      [`cases/${code}`, { action: "forget" }, "400 field.values"],
      [`cases/${code}`, { action: "disable" }, "400 reason.unknown"],
      [`cases/${code}`, { action: "nothing" }, "404 operator.no-case"],
    ] as const)
      expect(await outcomeOf(operate("POST", path, body)), JSON.stringify([path, body])).toBe(refusal);
    expect((await operate("GET", `links/${code}`)).data.history).toEqual([]);
  });
});

describe("a host in the operator's API", () => {
  test("may be written in any script, or be an IP address", async () => {
    for (const [written, host] of [
      ["누리집.한국", "xn--od1b68ljso.xn--3e0b707e"],
      ["192.0.2.1", "192.0.2.1"],
      ["[2001:db8::1]", "[2001:db8::1]"],
    ] as const) {
      const path = `hosts/${encodeURIComponent(written)}`;
      expect((await operate("PUT", path, { reason: "spam" })).data).toEqual({ host, changed: true, id });
      expect((await operate("DELETE", path)).data).toEqual({ host, changed: true, id });
    }
  });
});

/** Follows the cursor until there are `limit` links: a page may have fewer, because a request searches for a limited time. */
async function searchLinks(
  send: Operate,
  query: string,
  limit = 200,
): Promise<{ codes: string[]; cursor: string | null; searched: number }> {
  const codes: string[] = [];
  for (let from = ""; ;) {
    const part = `limit=${limit - codes.length}&cursor=${encodeURIComponent(from)}`;
    const { links, cursor, searched } = (await send("GET", `links?${query}&${part}`)).data;
    codes.push(...links.map(({ code }: { code: string }) => code));
    if (cursor === null || codes.length >= limit) return { codes, cursor, searched };
    from = cursor;
  }
}

describe("a list in the operator's API", () => {
  test("continues by its cursor without gaps or repetitions, refuses a limit outside 1 to 200, and starts again at an invalid cursor", async () => {
    await using own = await startOwn();
    for (let nth = 0; nth < 7; nth++) {
      await own.shorten({ original_url: `https://h${nth}.example/`, custom_code: `c${nth}` });
      await own.operate("PUT", `hosts/x${nth}.example`, { reason: "spam" });
      await report(own, `c${nth}`, { reason: "other" });
    }
    for (const [path, name] of [
      ["links", "links"],
      ["hosts", "hosts"],
      ["cases", "cases"],
      ["journal", "entries"],
    ] as const) {
      const seen: string[] = [];
      let cursor: string | null = "";
      while (cursor !== null) {
        const { data }: { data: any } = await own.operate(
          "GET",
          `${path}?limit=3&cursor=${encodeURIComponent(cursor)}`,
        );
        expect(data[name].length).toBeLessThanOrEqual(3);
        seen.push(...data[name].map((item: unknown) => JSON.stringify(item)));
        ({ cursor } = data);
      }
      const { data } = await own.operate("GET", `${path}?limit=200`);
      expect(seen, path).toEqual(data[name].map((item: unknown) => JSON.stringify(item)));
      expect(new Set(seen).size).toBe(7);
      expect((await own.operate("GET", `${path}?cursor=nonsense`)).status).toBe(200);
      for (const limit of ["0", "201", "-1", "x", "1.5", "1e2"])
        expect((await own.operate("GET", `${path}?limit=${limit}`)).message).toBe(
          "limit: It must be a whole number from 1 to 200.",
        );
    }
  });

  test("of links starts with the one that has exactly the searched code, and says which share was searched", async () => {
    await using own = await startOwn();
    const codes = ["before", "bad", "badge", "after"];
    for (const custom_code of codes)
      await own.shorten({ original_url: `https://${custom_code}.example/`, custom_code });
    await own.shorten({ original_url: "https://example.com/bad", custom_code: "newest" });
    const page = async (query: string, limit?: number) => {
      const result = await searchLinks(own.operate, query, limit);
      return [result.codes, result.cursor, result.searched];
    };
    expect(await page("q=bad")).toEqual([["bad", "newest", "badge"], null, 1]);
    expect(await page("q=bad&host=badge.example")).toEqual([["badge"], null, 1]);
    expect(await page("q=bad", 1)).toEqual([["bad"], expect.any(String), 0]);
    expect(await page("q=bad", 2)).toEqual([["bad", "newest"], expect.any(String), 0.2]);
    expect(await page("", 3)).toEqual([["newest", "after", "badge"], expect.any(String), 0.6]);
    const wrong = await own.operate("GET", "links?host=a/b");
    expect([wrong.status, wrong.message]).toEqual([400, `host: ${en["host.invalid"]}`]);
  });
});

test("one decision disables all links of a search once their number is confirmed", async () => {
  await using own = await startOwn();
  await addMany(own, 3);
  await own.shorten({ original_url: "https://example.com/", custom_code: "other" });
  await report(own, "many1", { reason: "phishing", note: "Fake!" });
  const disable = (count?: number, until?: string) =>
    own.operate("POST", "links/disable?q=many.example", {
      reason: "phishing",
      note: "campaign",
      count,
      until,
    });
  const { until, ...found } = (await disable()).data;
  expect(found).toEqual({ count: 3, done: false });
  // Isn't one of those that the operator saw.
  await own.shorten({ original_url: "https://many.example/late" });
  for (const refusal of [await disable(2, until), await disable(3)])
    expect([refusal.status, refusal.reason]).toEqual([409, "operator.count"]);
  expect((await own.operate("GET", "journal")).data.entries).toEqual([]);
  const done = (await disable(3, until)).data;
  expect(done).toEqual({ count: 3, done: true, changed: 3, id });
  const replaced = [
    { kind: "link", value: null, count: 3 },
    { kind: "case", value: null, by_reports: false, count: 1 },
  ];
  const { entries } = (await own.operate("GET", "journal")).data;
  expect(entries).toEqual([
    {
      id: done.id,
      at: expect.any(String),
      who: "api",
      by: null,
      action: "disable",
      code: null,
      host: null,
      reason: "phishing",
      note: "campaign",
      links: 3,
      replaced,
      undoes: null,
      undone: null,
      undoable: true,
    },
  ]);
});

test("a search that finds over 10,000 links disables none, even with their number", async () => {
  await using own = await startOwn();
  await addMany(own, 10_000);
  const path = "links/disable?host=many.example";
  expect((await own.operate("POST", path, { reason: "spam" })).data).toMatchObject({
    count: 10_000,
    done: false,
  });
  await own.shorten({ original_url: "https://many.example/" });
  const { status, message } = await own.operate("POST", path, { reason: "spam", count: 10_001 });
  expect([status, message]).toEqual([409, en["operator.too-many"].replace("{max}", "10,000")]);
  expect((await own.operate("GET", "journal")).data.entries).toEqual([]);
});

describe("undoing a decision in the operator's API", () => {
  const undo = (entry: string, note?: string) => operate("POST", `decisions/${entry}/undo`, { note });

  test("is refused with the present state if it was undone, if a later decision stands, and if it is final", async () => {
    const code = await createLink();
    const disable = async (reason: string) =>
      (await operate("POST", `links/${code}/disable`, { reason })).data.id;
    const [first, second] = [await disable("spam"), await disable("malware")];
    const now = (state: string) => ` ${en["decision.now"].replace("{state}", state)}`;
    const malware = now(en["admin.disabled"].replace("{reason}", en["reason.malware"]));
    const refusalOf = async (entry: string) => {
      const { status, reason, message } = await undo(entry);
      return [status, reason, message];
    };
    expect(await refusalOf(first)).toEqual([409, "decision.superseded", en["decision.superseded"] + malware]);
    await undo(second);
    await undo(first);
    const active = now(en["admin.state.active"]);
    expect(await refusalOf(first)).toEqual([409, "decision.undone", en["decision.undone"] + active]);
    const { data } = await operate("PATCH", `links/${code}`, { expires_at: "24h" });
    expect(await refusalOf(data.id)).toEqual([409, "decision.final", en["decision.final"] + active]);
    for (const unknown of ["0", "999999", "x", "-1", "1.5", "9".repeat(400)])
      expect(await refusalOf(unknown)).toEqual([404, "decision.unknown", en["decision.unknown"]]);
    expect(await outcomeOf(undo(first, "x".repeat(2001)))).toBe("400 note.too-long");
  });
});
