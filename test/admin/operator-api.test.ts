import { describe, expect, test } from "bun:test";

import { DAY_MS } from "../../src/links/time.ts";
import en from "../../src/locales/en.json";
import { callApi as changeLink, createManagedLink } from "../support/managed-links.ts";
import { outcomeOf, type Settings, shareService, startService } from "../support/service.ts";
import { visit } from "../visits/visits.ts";
import {
  addCampaign,
  addMany,
  type Operate,
  operateAs,
  CAMPAIGN,
  campaignHost,
  report,
  TOKEN,
  untilAnswered,
  untilRefused,
} from "./operator.ts";

const original_url = "https://example.com/somewhere";

const curt = shareService({ ADMIN_TOKEN: TOKEN, TRUSTED_PROXIES: "127.0.0.1" });
const operate = operateAs(curt);

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
] as const;

describe("the operator's API", () => {
  test.each(OPERATIONS)("%s %s needs the token", async (method, path) => {
    const given = [
      undefined,
      "",
      `Basic ${TOKEN}`,
      TOKEN,
      `Bearer ${TOKEN}x`,
      `Bearer ${TOKEN.slice(0, -1)}`,
      `Bearer ${TOKEN.toUpperCase()}`,
      "Bearer \u00ff",
    ];
    for (const authorization of given) {
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
  test("is shown with its visits, its reports and its history", async () => {
    const code = await createLink();
    await visit(curt, code);
    await report(curt, code, { reason: "spam", note: "I get it every day." });
    await operate("POST", `links/${code}/disable`, { reason: "spam", note: "seen" });
    const { status, data } = await operate("GET", `links/${code}`);
    expect(status).toBe(200);
    expect(data).toMatchObject({
      code,
      target: original_url,
      location: original_url,
      state: "disabled",
      disabled_reason: "spam",
      blocked: null,
      case: { state: "answered", reports: 1, reasons: { spam: 1 }, notes: [{ note: "I get it every day." }] },
      history: [{ who: "api", action: "disable", reason: "spam", note: "seen", code, host: null }],
    });
    while ((await operate("GET", `links/${code}`)).data.visits !== 1) await Bun.sleep(10);
  });

  test("has a short address that answers 410 with the reason while it is disabled, and redirects again once it is enabled", async () => {
    const code = await createLink();
    expect((await curt.fetch(`/${code}`)).status).toBe(302);
    const disabled = await operate("POST", `links/${code}/disable`, { reason: "phishing" });
    expect([disabled.status, disabled.data]).toEqual([200, { code, changed: true }]);
    // This process had the link in its cache.
    const gone = await curt.fetch(`/${code}`);
    expect(gone.status).toBe(410);
    expect(((await gone.json()) as { message: string }).message).toBe(en["disabled.phishing"]);
    expect((await operate("POST", `links/${code}/disable`, { reason: "phishing" })).data.changed).toBe(false);
    // Another reason replaces it.
    expect(
      (await operate("POST", `links/${code}/disable`, { reason: "legal", note: null })).data.changed,
    ).toBe(true);
    expect((await operate("POST", `links/${code}/enable`)).data).toEqual({ code, changed: true });
    expect((await curt.fetch(`/${code}`)).status).toBe(302);
    expect((await operate("POST", `links/${code}/enable`, { note: "again" })).data.changed).toBe(false);
  });

  test("changes its target and end even if EDITS is off, by the rules for makers, but no other field and not while it is disabled", async () => {
    await using closed = await startOwn({ EDITS: "off" });
    await closed.shorten({ original_url, custom_code: "moved" });
    const change = (body: unknown) => closed.operate("PATCH", "links/moved", body);
    const target = "https://new.example/shop";
    expect((await closed.fetch("/moved")).headers.get("location")).toBe(original_url);
    const changed = await change({ target, expires_at: "24h", note: "by phone" });
    expect([changed.status, changed.data]).toEqual([200, { code: "moved", changed: true }]);
    expect((await closed.fetch("/moved")).headers.get("location")).toBe(target);
    expect((await change({ target })).data).toEqual({ code: "moved", changed: false });
    expect((await change({ expires_at: null })).data.changed).toBe(true);
    for (const [body, message] of [
      [{ target: "ftp://new.example/" }, /^target: /],
      [{ target: "https://curt.example/moved" }, /^target: /],
      [{ expires_at: "2001-01-01T00:00:00Z" }, /^expires_at: /],
      [{ password: "secret" }, /^password: /],
      [{ note: "x".repeat(2001) }, /^note: /],
    ] as const) {
      const refusal = await change(body);
      expect([body, refusal.status, refusal.message]).toEqual([body, 400, expect.stringMatching(message)]);
    }
    const { data } = await closed.operate("GET", "links/moved");
    expect(data).toMatchObject({ target, former_host: "example.com", expires_at: null });
    expect(data.history).toMatchObject([
      { who: "api", action: "change", code: "moved", note: null },
      { who: "api", action: "change", code: "moved", note: "by phone" },
    ]);
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

  test("is deleted only if its code is confirmed, then permanently, and the code stays taken", async () => {
    const code = await createLink();
    for (const query of ["", "?confirm=", "?confirm=yes", `?confirm=${code}x`]) {
      expect(await outcomeOf(operate("DELETE", `links/${code}${query}`)), query).toBe("400 operator.confirm");
    }
    expect((await curt.fetch(`/${code}`)).status).toBe(302);
    expect((await operate("DELETE", `links/${code}?confirm=${code}`)).data).toEqual({ code, changed: true });
    expect((await curt.fetch(`/${code}`)).status).toBe(410);
    const deleted = { state: "deleted", target: "", location: "" };
    expect((await operate("GET", `links/${code}`)).data).toMatchObject(deleted);
    expect((await operate("DELETE", `links/${code}?confirm=${code}`)).data.changed).toBe(false);
    expect((await operate("POST", `links/${code}/enable`)).data.changed).toBe(false);
    expect((await curt.shorten({ original_url, custom_code: code })).status).toBe(409);
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
  test("is blocked with its subdomains, and unblocked", async () => {
    const [below, beside] = [
      await createLink("https://a.b.blocked.example/x"),
      await createLink("https://notblocked.example/"),
    ];
    for (const code of [below, beside]) expect((await curt.fetch(`/${code}`)).status).toBe(302);
    const blocked = await operate("PUT", "hosts/Blocked.EXAMPLE.", { reason: "malware", note: "all of it" });
    expect([blocked.status, blocked.data]).toEqual([200, { host: "blocked.example", changed: true }]);
    await untilAnswered(curt, below, 410);
    expect((await curt.fetch(`/${beside}`)).status).toBe(302);
    await untilRefused(curt, "https://blocked.example/");
    expect((await operate("GET", `links/${below}`)).data).toMatchObject({
      state: "active",
      blocked: "malware",
    });
    expect((await operate("GET", "hosts")).data.hosts).toEqual([
      { host: "blocked.example", reason: "malware", since: expect.any(String) },
    ]);
    expect((await operate("DELETE", "hosts/blocked.example", { note: "a mistake" })).data.changed).toBe(true);
    await untilAnswered(curt, below, 302);
    expect((await operate("DELETE", "hosts/blocked.example")).data.changed).toBe(false);
    expect((await operate("GET", "hosts")).data.hosts).toEqual([]);
  });

  test("may be written in any script, or be an IP address", async () => {
    for (const [written, host] of [
      ["누리집.한국", "xn--od1b68ljso.xn--3e0b707e"],
      ["192.0.2.1", "192.0.2.1"],
      ["[2001:db8::1]", "[2001:db8::1]"],
    ] as const) {
      const path = `hosts/${encodeURIComponent(written)}`;
      expect((await operate("PUT", path, { reason: "spam" })).data).toEqual({ host, changed: true });
      expect((await operate("DELETE", path)).data).toEqual({ host, changed: true });
    }
  });

  test("can't be blocked if it is malformed or the instance's own", async () => {
    for (const host of ["a b", "https:%2F%2Fx.example", "*.example", "x:80", "curt.example", "<b>"])
      expect(
        (await operate("PUT", `hosts/${encodeURIComponent(host)}`, { reason: "spam" })).status,
        host,
      ).toEqual(400);
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

  test("of links can be searched by code, host and a part of the destination", async () => {
    await using own = await startOwn();
    await addCampaign(own);
    const search = async (query: string) => (await searchLinks(own.operate, query)).codes;
    expect(await search("q=bad59")).toEqual(["bad59"]);
    expect(await search("q=verify-account")).toHaveLength(CAMPAIGN.links);
    expect(await search(`host=${campaignHost(3)}`)).toHaveLength(8);
    expect(await search("host=bank-3.example")).toHaveLength(8);
    expect(await search("host=ank-3.example")).toEqual([]);
    const wrong = await own.operate("GET", "links?host=a/b");
    expect([wrong.status, wrong.message]).toEqual([400, `host: ${en["host.invalid"]}`]);
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
  });
});

test("the links of a search are disabled together once their number is confirmed, and a case of them can be reopened", async () => {
  await using own = await startOwn();
  await addMany(own, 3);
  await own.shorten({ original_url: "https://example.com/", custom_code: "other" });
  await report(own, "many1", { reason: "phishing", note: "Fake!" });
  const disable = (count?: number) =>
    own.operate("POST", "links/disable?q=many.example", { reason: "phishing", note: "campaign", count });
  expect((await disable()).data).toEqual({ count: 3, done: false });
  const other = await disable(2);
  expect([other.status, other.reason]).toEqual([409, "operator.count"]);
  expect((await own.operate("GET", "journal")).data.entries).toEqual([]);
  const { at, ...done } = (await disable(3)).data;
  expect(done).toEqual({ count: 3, done: true, changed: 3 });
  expect((await own.operate("GET", "journal")).data.entries[0].at).toBe(at);
  for (const code of ["many0", "many2"]) await untilAnswered(own, code, 410);
  expect((await own.fetch("/other")).status).toBe(302);
  const caseState = async () =>
    (await own.operate("GET", "cases")).data.cases.map((one: any) => [one.code, one.state]);
  expect(await caseState()).toEqual([["many1", "answered"]]);
  expect((await own.operate("POST", "cases/many1", { action: "reopen" })).status).toBe(200);
  expect(await caseState()).toEqual([["many1", "open"]]);
  expect((await own.operate("POST", "cases/many1", { action: "reopen" })).message).toBe(
    en["operator.no-case"],
  );
  const { entries } = (await own.operate("GET", "journal")).data;
  expect(entries.filter((entry: any) => entry.action === "disable")).toHaveLength(3);
  expect((await own.operate("GET", "figures")).data).toMatchObject({
    links: 4,
    disabled: 3,
    blocked_hosts: 0,
  });
});

test("a search that finds over 10,000 links disables none, even with their number", async () => {
  await using own = await startOwn();
  await addMany(own, 10_000);
  const path = "links/disable?host=many.example";
  expect((await own.operate("POST", path, { reason: "spam" })).data).toEqual({ count: 10_000, done: false });
  await own.shorten({ original_url: "https://many.example/" });
  const { status, message } = await own.operate("POST", path, { reason: "spam", count: 10_001 });
  expect([status, message]).toEqual([409, en["operator.too-many"].replace("{max}", "10,000")]);
  expect((await own.operate("GET", "journal")).data.entries).toEqual([]);
});

test("the links of one creator are found, disabled together and enabled again", async () => {
  const [mina, joon] = ["mina:a-long-secret-of-mina", "joon:a-long-secret-of-joon"];
  await using own = await startOwn({ CREATE_TOKEN: `${mina} ${joon}` });
  const create = (custom_code: string, token: string) =>
    own.shorten({ original_url, custom_code }, { Authorization: `Bearer ${token}` });
  for (const code of ["m1", "m2", "m3"]) await create(code, mina);
  await create("j1", joon);
  const search = async (query: string) => (await searchLinks(own.operate, query)).codes;
  expect(await search("q=by:mina")).toEqual(["m3", "m2", "m1"]);
  expect(await search("q=by:mina+m2")).toEqual(["m2"]);
  // The link with exactly this code isn't hers.
  expect(await search("q=by:mina+j1")).toEqual([]);
  expect(await search("q=by:mina&host=other.example")).toEqual([]);
  const decide = (action: string, count?: number, undoes?: unknown) =>
    own.operate("POST", `links/${action}?q=by:mina`, { reason: "spam", count, undoes });
  await own.operate("POST", "links/m1/disable", { reason: "legal" });
  expect((await decide("disable")).data).toEqual({ count: 3, done: false });
  const { at, changed } = (await decide("disable", 3)).data;
  expect(changed).toBe(3);
  for (const code of ["m1", "m2", "m3"]) await untilAnswered(own, code, 410);
  expect((await own.fetch("/j1")).status).toBe(302);
  // A link that is created before the undo.
  await create("m4", mina);
  for (const undoes of ["yesterday", 7, ""]) expect((await decide("enable", 4, undoes)).status).toBe(400);
  expect((await decide("enable", 4, at)).data).toMatchObject({ count: 4, changed: 3 });
  for (const code of ["m2", "m3"]) await untilAnswered(own, code, 302);
  expect((await own.operate("GET", "links/m1")).data.disabled_reason).toBe("legal");
  // Without it, all are enabled.
  expect((await decide("enable", 4)).data.changed).toBe(1);
  await untilAnswered(own, "m1", 302);
});
