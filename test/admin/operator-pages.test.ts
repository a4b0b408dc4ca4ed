import { Database } from "bun:sqlite";
import { beforeAll, describe, expect, test } from "bun:test";

import en from "../../src/locales/en.json";
import { createAccessTokens, SESSION_MS } from "../../src/moderation/access-tokens.ts";
import { elementsOf, expectGuarded, HOSTILE, HTML, MARK, sendForm } from "../http/markup.ts";
import { newLink } from "../stores/links.ts";
import { callApi, createManagedLink } from "../support/managed-links.ts";
import { openStoreOf, shareService, startService, temporaryFolder } from "../support/service.ts";
import { operateAs, report, seenOf, TOKEN, untilAnswered } from "./operator.ts";

const FORM = "application/x-www-form-urlencoded";
const PAGES = [
  "/admin",
  "/admin/figures",
  "/admin/links",
  "/admin/links/any",
  "/admin/hosts",
  "/admin/journal",
];
const FOUND = "/admin/found?host=example.com";

const curt = shareService({ ADMIN_TOKEN: TOKEN });
beforeAll(async () => {
  await curt.shorten({ original_url: "https://example.com/", custom_code: "any" });
});

type Fields = Record<string, string>;

/** A session of a token, whether the service has it or not. */
function startSession(secret: string, nowMs: number): string {
  return createAccessTokens([]).startSession({ secret }, nowMs);
}

function get(path: string, session = "", service = curt): Promise<Response> {
  return service.fetch(path, { headers: { ...HTML, Cookie: `operator=${session}` } });
}

const post = (path: string, fields: Fields, session = "", headers: Fields = {}, service = curt) =>
  sendForm(service, path, fields, { Cookie: `language=en; operator=${session}`, ...headers });

async function signIn(service = curt): Promise<string> {
  const response = await post("/admin", { token: TOKEN }, "", {}, service);
  return /operator=([^;]+)/.exec(response.headers.get("set-cookie") ?? "")?.[1] ?? "";
}

/** A service with a signed-in operator, whose forms contain the session's token. */
async function startSignedIn(settings: Fields = {}) {
  const service = await startService({ ADMIN_TOKEN: TOKEN, ...settings });
  const session = await signIn(service);
  const form = createAccessTokens([{ secret: TOKEN }]).formToken({ secret: TOKEN }, session);
  return Object.assign(service, {
    operate: operateAs(service),
    open: (path: string) => get(path, session, service),
    textOf: async (path: string) => (await get(path, session, service)).text(),
    send: (path: string, fields: Fields) => post(path, { form, ...fields }, session, {}, service),
  });
}

async function formTokenOf(session: string): Promise<string> {
  const elements = await elementsOf(await get("/admin/hosts", session));
  return elements.find(({ attributes }) => attributes["name"] === "form")?.attributes["value"] ?? "";
}

describe("a session of the operator", () => {
  test("starts with a cookie that only Curt's own pages get, that no script reads, and that expires", async () => {
    const response = await post("/admin", { token: ` ${TOKEN}\n` });
    expect([response.status, response.headers.get("location")]).toEqual([303, "/admin"]);
    const [value = "", ...attributes] = (response.headers.get("set-cookie") ?? "").split("; ");
    expect(value).toMatch(/^operator=[\w.-]+$/);
    expect(value).not.toContain(TOKEN);
    const maxAge = `Max-Age=${SESSION_MS / 1000}`;
    expect(attributes.toSorted()).toEqual(["HttpOnly", maxAge, "Path=/admin", "SameSite=Strict", "Secure"]);
    expect(response.headers.get("cache-control")).toBe("no-store");
    await using local = await startService({ ADMIN_TOKEN: TOKEN, BASE_URL: "http://localhost" });
    const plain = await post("/admin", { token: TOKEN }, "", {}, local);
    expect(plain.headers.get("set-cookie")).not.toContain("Secure");
  });

  test("doesn't start with a wrong token, which shows the form again", async () => {
    for (const token of ["", "wrong", `${TOKEN}x`, TOKEN.slice(1)]) {
      const response = await post("/admin", { token });
      expect([response.status, response.headers.get("set-cookie")], token).toEqual([401, null]);
      expectGuarded(response);
      const page = await response.text();
      expect(page).toContain(en["operator.wrong"].replace("'", "&#39;"));
      expect(page).not.toContain(TOKEN);
      if (token !== "") expect(page).not.toContain(token);
    }
  });

  test("doesn't start with a form over the size of a token, which gets 413", async () => {
    const long = await post("/admin", { token: "x".repeat(10_000) });
    expect([long.status, long.headers.get("set-cookie")]).toEqual([413, null]);
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(`token=${TOKEN}${" ".repeat(10_000)}`));
        controller.close();
      },
    });
    const unknown = await curt.fetch("/admin", { method: "POST", headers: { "Content-Type": FORM }, body });
    expect([unknown.status, unknown.headers.get("set-cookie")]).toEqual([413, null]);
  });

  test("doesn't start with a form of another site", async () => {
    for (const headers of [
      { "Sec-Fetch-Site": "cross-site" },
      { Origin: "https://evil.example" },
    ] as Fields[]) {
      const response = await post("/admin", { token: TOKEN }, "", headers);
      expect([response.status, response.headers.get("set-cookie")]).toEqual([403, null]);
    }
  });

  test("ends when signing out, for copies of its cookie and after a restart as well, but not in other browsers", async () => {
    using folder = temporaryFolder();
    const start = () => startService({ ADMIN_TOKEN: TOKEN }, { folder: folder.path });
    let copy = "";
    let other = "";
    const statuses = async (service: typeof curt) =>
      Promise.all([copy, other].map(async (session) => (await get("/admin", session, service)).status));
    {
      await using service = await start();
      [copy, other] = [await signIn(service), await signIn(service)];
      expect(await statuses(service)).toEqual([200, 200]);
      await post("/admin/sign-out", {}, copy, {}, service);
      expect(await statuses(service)).toEqual([401, 200]);
      const done = await post("/admin/hosts", { action: "block", host: "example.com" }, copy, {}, service);
      expect([done.status, done.headers.get("location")]).toEqual([303, "/admin"]);
    }
    await using service = await start();
    expect(await statuses(service)).toEqual([401, 200]);
    // Nobody can end what isn't a session, and so fill the store.
    for (const session of ["", `${other}x`, startSession("x", service.nowMs())])
      expect((await post("/admin/sign-out", {}, session, {}, service)).status).toBe(303);
    using database = new Database(service.file, { readonly: true });
    expect(database.query("SELECT count(*) AS ended FROM ended_sessions").get()).toEqual({ ended: 1 });
  });

  test("gets 503 while the store can't say whether it has ended", async () => {
    await using service = await startService({ ADMIN_TOKEN: TOKEN });
    service.expectFaults();
    const session = await signIn(service);
    {
      using database = new Database(service.file);
      database.run("ALTER TABLE ended_sessions RENAME TO missing");
    }
    for (const path of PAGES) expect((await get(path, session, service)).status, path).toBe(503);
    const responses = [
      await post("/admin/hosts", { action: "block", host: "example.com" }, session, {}, service),
      await post("/admin/sign-out", {}, session, {}, service),
    ];
    expect(responses.map(({ status }) => status)).toEqual([503, 503]);
    // The browser keeps the cookie, so that the operator can repeat it.
    expect(responses.map(({ headers }) => headers.get("set-cookie"))).toEqual([null, null]);
    expect((await get("/admin", "", service)).status).toBe(401);
  });

  test("loses its cookie when signing out, but not by a form of another site", async () => {
    const response = await post("/admin/sign-out", {}, await signIn());
    expect(response.status).toBe(303);
    expect(response.headers.get("set-cookie")).toStartWith("operator=; Path=/admin; Max-Age=0");
    // No other site ends a session.
    const others = await post("/admin/sign-out", {}, await signIn(), { "Sec-Fetch-Site": "cross-site" });
    expect([others.status, others.headers.get("set-cookie")]).toEqual([403, null]);
  });
});

describe("the operator's pages", () => {
  test("show only the sign-in form without an open session", async () => {
    const now = curt.nowMs();
    const sessions = {
      none: "",
      "the token itself": TOKEN,
      "a session of another token": startSession(`${TOKEN}x`, now),
      "an expired session": startSession(TOKEN, now - SESSION_MS),
      "a session that lasts too long": startSession(TOKEN, now + SESSION_MS),
      "a changed session": `${startSession(TOKEN, now)}x`,
    };
    for (const [name, session] of Object.entries(sessions)) {
      for (const path of [...PAGES, FOUND]) {
        const response = await get(path, session);
        expect([path, response.status], name).toEqual([path, 401]);
        const elements = await elementsOf(response);
        expect(elements.filter(({ tag }) => tag === "form")).toHaveLength(1);
        expect(elements.some(({ attributes }) => attributes["type"] === "password")).toBe(true);
      }
      const done = await post("/admin/links/any", { action: "disable", reason: "spam", form: "" }, session);
      expect([done.status, done.headers.get("location")], name).toEqual([303, "/admin"]);
    }
    expect((await operateAs(curt)("GET", "journal")).data.entries).toEqual([]);
  });

  test("open during a session, with security headers and stored nowhere", async () => {
    await using own = await startSignedIn();
    await own.shorten({ original_url: "https://example.com/", custom_code: "any" });
    for (const path of [...PAGES, FOUND]) {
      const response = await own.open(path);
      expect(response.status, path).toEqual(200);
      expectGuarded(response);
    }
    expect((await own.open("/admin/links/unknown-code")).status).toBe(404);
    own.advance(SESSION_MS);
    for (const path of PAGES) expect((await own.open(path)).status).toBe(401);
  });

  test("don't exist without ADMIN_TOKEN", async () => {
    await using closed = await startService();
    for (const path of [...PAGES, "/admin/", "/admin/sign-out", FOUND]) {
      for (const method of ["GET", "POST"]) {
        const response = await closed.fetch(path, { method, headers: HTML });
        expect(method, path).toBe(method);
        expect(response.status, path).toBe(method === "POST" && /^\/admin\/?$/.test(path) ? 405 : 404);
        expect(response.headers.get("set-cookie"), path).toBe(null);
      }
    }
  });

  test("find a part of a destination behind 60,000 newer links", async () => {
    await using own = await startSignedIn();
    await own.shorten({ original_url: "https://example.com/wp-admin/verify", custom_code: "far" });
    await using store = await openStoreOf(own);
    // Many more than one slice of a search looks at.
    for (let part = 0; part < 60; part++)
      await store.insert(Array.from({ length: 1000 }, (_, nth) => newLink(`newer${part}-${nth}`)));
    const results: string[] = [];
    // A request searches for a limited time. On a busy machine, the page has a link to the rest.
    for (let path: string | undefined = "/admin/links?q=wp-admin"; path !== undefined;) {
      const elements = await elementsOf(await own.open(path));
      const links = elements.map(({ attributes }) => attributes["href"] ?? "");
      results.push(...links.filter((href) => href.startsWith("/admin/links/")));
      path = links.find((href) => /^\/admin\/links\?.*cursor=/.test(href))?.replaceAll("&amp;", "&");
    }
    expect(results).toEqual(["/admin/links/far"]);
  });

  test("refuse a form of another site or without the session's form token", async () => {
    const session = await signIn();
    const form = await formTokenOf(session);
    const forms: [string, Fields][] = [
      ["/admin/links/any", { action: "disable", reason: "spam" }],
      ["/admin/hosts", { action: "block", host: "example.com", reason: "spam" }],
      [FOUND, { action: "disable", reason: "spam", count: "1" }],
      ["/admin/cases", { code: "any", action: "nothing" }],
    ];
    const other = await formTokenOf(startSession(TOKEN, curt.nowMs() - 1000));
    for (const [path, fields] of forms) {
      for (const [sent, headers] of [
        [{ ...fields }, {}],
        [{ ...fields, form: "" }, {}],
        [{ ...fields, form: other }, {}],
        [{ ...fields, form }, { "Sec-Fetch-Site": "cross-site" }],
        [{ ...fields, form }, { Origin: "https://evil.example" }],
      ] as [Fields, Fields][]) {
        expect((await post(path, sent, session, headers)).status, path).toEqual(403);
      }
    }
    expect((await operateAs(curt)("GET", "journal")).data.entries).toEqual([]);
  });

  test("block the host of a typed address, and keep what was typed if it has none", async () => {
    await using own = await startSignedIn();
    const block = (host: string) => own.send("/admin/hosts", { action: "block", host, reason: "spam" });
    const addresses = [
      " https://evil.example/login?next=/#top",
      "http://other.example:8080",
      "https://[2001:db8::1]/x",
    ];
    for (const address of addresses) expect((await block(address)).status, address).toEqual(303);
    const blocked = ["[2001:db8::1]", "evil.example", "other.example"];
    expect((await own.operate("GET", "hosts")).data.hosts).toMatchObject(blocked.map((host) => ({ host })));
    for (const address of ["https://a b.example/", "ftp://evil.example/", "https://me@evil.example/"]) {
      const refusal = await block(address);
      expect(refusal.status, address).toEqual(400);
      const field = (await elementsOf(refusal)).find(
        ({ attributes }) => attributes["name"] === "host" && attributes["type"] !== "hidden",
      );
      expect(field?.attributes["value"]).toBe(address);
    }
  });

  test("open if any of several cookies is a session, because another site of the domain may set cookies", async () => {
    const session = await signIn();
    const form = await formTokenOf(session);
    const sent = (Cookie: string) => ({ headers: { ...HTML, Cookie } });
    for (const Cookie of [`operator=bad; operator=${session}`, `operator=${session}; operator=bad`]) {
      expect((await curt.fetch("/admin", sent(Cookie))).status).toBe(200);
      const act = await post("/admin/hosts", { form }, "", { Cookie });
      expect(act.status).toBe(400);
    }
    expect((await curt.fetch("/admin", sent("operator=bad; operator=worse"))).status).toBe(401);
  });

  test("show what is wrong with a form, and change nothing", async () => {
    const session = await signIn();
    const form = await formTokenOf(session);
    const messageOf = async (path: string, fields: Fields) => {
      const response = await post(path, { ...fields, form }, session);
      const [, alert] = /role="alert">([^<]*)</.exec(await response.text()) ?? [];
      return [response.status, alert];
    };
    const seen = await seenOf(curt, "any");
    const disable = { action: "disable", reason: "spam", seen };
    const answer = { code: "any", ...disable };
    for (const [path, fields, status, alert] of [
      ["/admin/hosts", { action: "block", host: "a b", reason: "spam" }, 400, en["host.invalid"]],
      ["/admin/hosts", { action: "block", host: "curt.example", reason: "spam" }, 400, en["host.own"]],
      ["/admin/links/any", { ...disable, reason: "ugly" }, 400, "malware"],
      [FOUND, { ...disable, count: "7" }, 409, en["operator.count"].replace("{count}", "1")],
      ["/admin/cases", { ...answer, action: "" }, 400, "It must be one of"],
      ["/admin/cases", { ...answer, action: "forget" }, 400, "It must be one of"],
      ["/admin/cases", { ...answer, reason: "" }, 400, "It must be one of"],
      ["/admin/cases", { ...answer, reason: "ugly" }, 400, "It must be one of"],
      ["/admin/cases", { ...answer, seen: "" }, 412, en["admin.changed"]],
      ["/admin/links/any", { ...disable, seen: `${seen}x` }, 412, en["admin.changed"]],
    ] as const)
      expect(await messageOf(path, fields), path).toEqual([status, expect.stringContaining(alert)]);
    const search = await get("/admin/links?host=a/b", session);
    expect([search.status, await search.text()]).toEqual([400, expect.stringContaining(en["host.invalid"])]);
    // Deleting takes the box that says so.
    expect((await post("/admin/links/any", { action: "erase", seen, form }, session)).status).toBe(303);
    expect((await curt.fetch("/any")).status).toBe(302);
    expect((await operateAs(curt)("GET", "journal")).data.entries).toEqual([]);
  });

  test("change a link even if EDITS is off, and show its manage address", async () => {
    await using own = await startSignedIn({ EDITS: "off" });
    await own.shorten({ original_url: "https://example.com/", custom_code: "moved" });
    const change = async (fields: Fields) => {
      const seen = await seenOf(own, "moved");
      return own.send("/admin/links/moved", { action: "change", seen, ...fields });
    };
    const target = "https://new.example/";
    const changed = await change({
      target,
      expires_at: "24h",
      expires_at_date: "2099-01-02T03:04",
      zone: "Asia/Seoul",
    });
    expect([changed.status, changed.headers.get("location")]).toEqual([303, "/admin/links/moved"]);
    expect((await own.fetch("/moved")).headers.get("location")).toBe(target);
    const inspected = async () => (await own.operate("GET", "links/moved")).data;
    expect(await inspected()).toMatchObject({
      expires_at: "2099-01-01T18:04:00.000Z",
      history: [{ action: "change", who: "page" }],
    });
    expect((await change({ target, expires_at: "never" })).status).toBe(303);
    expect((await inspected()).expires_at).toBeNull();
    const refusal = await change({ target: "ftp://typed.example/" });
    expect(refusal.status).toBe(400);
    expect(await refusal.text()).toContain('value="ftp://typed.example/"');
    const elements = await elementsOf(await own.open("/admin/links/moved"));
    const [address] = elements.flatMap(({ attributes }) => attributes["data-copy"] ?? []);
    const [, key] = /^https:\/\/curt\.example\/moved\+#key=(.+)$/.exec(address ?? "") ?? [];
    const managed = await own.fetch("/api/v1/links/moved", {
      method: "PATCH",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body: JSON.stringify({ expires_at: "24h" }),
    });
    expect(managed.status).toBe(200);
  });

  test("keep the search when the language is switched", async () => {
    const session = await signIn();
    for (const path of ["/admin/links?host=example.com&q=any", `${FOUND}&action=enable`]) {
      const elements = await elementsOf(await get(path, session));
      const korean =
        elements.find(({ attributes }) => attributes["hreflang"] === "ko")?.attributes["href"] ?? "";
      const switched = await get(path.split("?", 1)[0] + korean.replaceAll("&amp;", "&"), session);
      const page = await switched.text();
      expect([switched.status, page.includes("example.com")], path).toEqual([200, true]);
      expect(page).toContain('<html lang="ko">');
    }
  });

  test("redirect an empty search, so that no decision is about all links", async () => {
    const session = await signIn();
    for (const path of ["/admin/found", "/admin/found?language=ko", "/admin/found?q="]) {
      const response = await get(path, session);
      expect([response.status, response.headers.get("location")]).toEqual([303, "/admin/links"]);
    }
  });
});

describe("the desk", () => {
  test("shows open reports with their notes and the warnings of visitors, and their number in the title", async () => {
    await using own = await startSignedIn();
    const desk = async () => own.textOf("/admin");
    const empty = await desk();
    for (const text of [`<title>${en["admin.cases"]} – `, en["admin.nothing"]]) expect(empty).toContain(text);
    const targets = ["https://paypal.com.evil.example/안녕", "http://plain.example/"];
    for (const [nth, original_url] of targets.entries()) {
      await own.shorten({ original_url, custom_code: `r${nth}` });
      await report(own, `r${nth}`, { reason: "phishing", note: `in my words ${nth}` });
    }
    const page = await desk();
    expect(page).toContain(`<title>(2) ${en["admin.cases"]} – `);
    for (const text of ["in my words 0", "in my words 1", en["hint.http"], "안녕"])
      expect(page).toContain(text);
    await own.operate("POST", "cases/r1", { action: "nothing" });
    expect(await desk()).not.toContain("in my words 1");
    // Every page counts them.
    expect(await own.textOf("/admin/journal")).toContain('<span class="count">1</span>');
  });

  test.each([
    ["disable", "an active link", "", 410, ["reopen", "enable", "disable"]],
    ["block-host", "an active link", "", 410, ["reopen"]],
    ["nothing", "an active link", "", 302, ["reopen", "nothing-wrong"]],
    [
      "nothing",
      "a link disabled for spam",
      "spam",
      302,
      ["reopen", "disable", "enable", "nothing-wrong", "disable"],
    ],
    ["disable", "a link disabled for spam", "spam", 410, ["reopen", "disable", "disable"]],
  ] as const)("undoes the answer %s to %s", async (action, _link, was, status, actions) => {
    await using own = await startSignedIn({ REPORT_THRESHOLD: was === "" ? "off" : "1" });
    await own.shorten({ original_url: "https://undo.example/", custom_code: "undo" });
    await report(own, "undo", { reason: "spam" });
    const before = was === "" ? 302 : 410;
    await untilAnswered(own, "undo", before);
    const answer = (fields: Fields) => own.send("/admin/cases", fields);
    const seen = await seenOf(own, "undo");
    const response = await answer({ code: "undo", action, reason: "spam", seen });
    const path = response.headers.get("location") ?? "";
    const query = `did=${action}&code=undo&was=${was}&seen=${seen}&block=undo.example`;
    expect([response.status, path]).toEqual([303, `/admin?${query}`]);
    await untilAnswered(own, "undo", status);
    const confirmation = await own.open(path);
    const confirmed = `${en[`admin.answered.${action}`]}: `;
    expect(await confirmation.clone().text()).toContain(confirmed);
    const page = await elementsOf(confirmation);
    const fields = page.flatMap(({ attributes: { name, value = "" } }) =>
      name !== undefined && ["did", "code", "was", "seen"].includes(name) ? [[name, value]] : [],
    );
    const undone = await answer({ action: "undo", ...Object.fromEntries(fields) });
    const after = undone.headers.get("location") ?? "";
    expect([undone.status, after]).toEqual([303, expect.stringMatching(/^\/admin\?did=undo&code=undo&/)]);
    expect(await own.textOf(after)).toContain(`${en["admin.answered.undo"]}: `);
    await untilAnswered(own, "undo", before);
    expect((await own.operate("GET", "cases")).data.cases).toMatchObject([{ code: "undo", state: "open" }]);
    expect((await own.operate("GET", "hosts")).data.hosts).toEqual([]);
    const { data } = await own.operate("GET", "links/undo");
    expect(data.history.map((one: { action: string }) => one.action)).toEqual(actions);
  });
});

describe("a link that changed after the operator saw it", () => {
  const CHANGED = "https://www.google.com/";

  async function startReported() {
    const own = await startSignedIn();
    const { code, key, path } = await createManagedLink(own, { target: "https://evil-bank.example/login" });
    await report(own, code, { reason: "phishing" });
    const change = () => callApi(own, "PATCH", path, { key, body: { target: CHANGED } });
    return Object.assign(own, { code, change });
  }

  test("is shown in its new state, and no decision about it or its host takes effect", async () => {
    await using own = await startReported();
    const { code, change, send } = own;
    const valuesOf = async (response: Response, field: string) =>
      (await elementsOf(response)).flatMap(({ attributes: { name, value = "" } }) =>
        name === field ? [value] : [],
      );
    const [seen = ""] = await valuesOf(await own.open("/admin"), "seen");
    expect((await change()).status).toBe(200);
    const forms: [string, Fields][] = [
      ...["disable", "block-host", "nothing"].map((action): [string, Fields] => [
        "/admin/cases",
        { code, action, reason: "phishing" },
      ]),
      ["/admin/cases", { action: "undo", did: "nothing", code, was: "spam" }],
      ...["disable", "enable", "change"].map((action): [string, Fields] => [
        `/admin/links/${code}`,
        { action, reason: "phishing", expires_at: "24h" },
      ]),
      [`/admin/links/${code}`, { action: "erase", confirm: code }],
    ];
    for (const [path, fields] of forms) {
      const refusal = await send(path, { ...fields, seen });
      expect(refusal.status, JSON.stringify(fields)).toBe(412);
      const page = await refusal.clone().text();
      expect(page).toContain(en["admin.changed"]);
      expect(page).toContain("<strong>google.com</strong>");
      expect(await valuesOf(refusal, "seen")).not.toContain(seen);
    }
    const { data } = await own.operate("GET", `links/${code}`);
    expect(data).toMatchObject({ target: CHANGED, state: "active", case: { state: "open" }, history: [] });
    expect((await own.operate("GET", "hosts")).data.hosts).toEqual([]);
    const [now = ""] = await valuesOf(await own.open("/admin"), "seen");
    expect((await send("/admin/cases", { code, action: "nothing", seen: now })).status).toBe(303);
  });

  test("keeps the answer from before the change, because undoing it gets 412", async () => {
    await using own = await startReported();
    const { code, change, send } = own;
    const seen = await seenOf(own, code);
    const answer = { code, action: "block-host", reason: "phishing", seen };
    const response = await send("/admin/cases", answer);
    const undo = Object.fromEntries(new URL(response.headers.get("location") ?? "", own.origin).searchParams);
    await own.operate("DELETE", "hosts/evil-bank.example");
    while ((await change()).status !== 200) await Bun.sleep(10);
    await own.operate("PUT", "hosts/evil-bank.example", { reason: "phishing" });
    expect((await send("/admin/cases", { ...undo, action: "undo" })).status).toBe(412);
    expect((await own.operate("GET", "hosts")).data.hosts).toMatchObject([{ host: "evil-bank.example" }]);
  });
});

test("the confirmation of a blocked host names the host, not the code", async () => {
  await using own = await startSignedIn();
  await own.shorten({ original_url: "https://www.evil.example/", custom_code: "나쁜링크" });
  await report(own, "나쁜링크", { reason: "phishing" });
  const seen = await seenOf(own, encodeURIComponent("나쁜링크"));
  const fields = { code: "나쁜링크", action: "block-host", reason: "phishing", seen };
  const response = await own.send("/admin/cases", fields);
  const page = await own.textOf(response.headers.get("location") ?? "");
  expect(page).toMatch(/role="status">\s*Host blocked:\s*<bdi dir="ltr">www\.evil\.example</);
});

describe("the reason of a decision", () => {
  const optionsOf = async (response: Response) =>
    (await elementsOf(response)).flatMap(({ tag, attributes }) =>
      tag === "option" && "value" in attributes && /^(?:malware|phishing|)$/.test(attributes["value"] ?? "")
        ? [`${attributes["value"]}${"selected" in attributes ? "*" : ""}`]
        : [],
    );

  test("is preset to that of the reports, and empty without any", async () => {
    await using own = await startSignedIn();
    for (const custom_code of ["quiet", "bad"])
      await own.shorten({ original_url: "https://example.com/", custom_code });
    await report(own, "bad", { reason: "phishing" });
    const hosts = "/admin/hosts?host=example.com";
    for (const path of [FOUND, "/admin/links/quiet", hosts, `${hosts}&reason=`])
      expect((await optionsOf(await own.open(path))).slice(0, 3), path).toEqual(["*", "malware", "phishing"]);
    for (const path of ["/admin", "/admin/links/bad", `${hosts}&reason=phishing`])
      expect((await optionsOf(await own.open(path))).slice(0, 2), path).toEqual(["malware", "phishing*"]);
    const page = await own.textOf("/admin/links/bad");
    expect(page).toContain("/admin/hosts?host=example.com&amp;reason=phishing");
  });
});

test("the page of a link leads to all links of its creator, which one decision disables, and another or its undo enables", async () => {
  const token = "mina:a-long-secret-of-mina";
  await using own = await startSignedIn({ CREATE_TOKEN: token });
  for (const custom_code of ["m1", "m2"])
    await own.shorten(
      { original_url: `https://${custom_code}.example/`, custom_code },
      { Authorization: `Bearer ${token}` },
    );
  const [, path = ""] = /<a href="([^"]+)">mina<\/a>/.exec(await own.textOf("/admin/links/m1")) ?? [];
  const list = await own.textOf(path);
  for (const code of ["m1", "m2"]) expect(list).toContain(`href="/admin/links/${code}"`);
  for (const [action, status] of [
    ["disable", 410],
    ["enable", 302],
  ] as const) {
    const found = path.replace("links", "found");
    expect(list).toContain(`${found}&amp;action=${action}`);
    const decided = await own.send(found, { action, count: "2", reason: "spam" });
    const [location, undoes] = decided.headers.get("location")?.split("&undoes=") ?? [];
    expect([location, undoes === undefined]).toEqual([`${path}&done=2`, action === "enable"]);
    for (const code of ["m1", "m2"]) await untilAnswered(own, code, status);
  }
  const found = path.replace("links", "found");
  await own.operate("POST", "links/m1/disable", { reason: "legal" });
  const decided = await own.send(found, { action: "disable", count: "2", reason: "spam" });
  const [, undoes = ""] = decided.headers.get("location")?.split("&undoes=") ?? [];
  const undo = `action="${found}"><input type="hidden" name="action" value="enable"/><input type="hidden" name="undoes" value="${undoes}"/>`;
  expect(await own.textOf(`${path}&done=2&undoes=${undoes}`)).toContain(undo);
  expect(list).not.toContain('name="undoes"');
  // It needs no number: the maker may have created more links.
  for (const [sent, status] of [
    [{ action: "enable", undoes: "" }, 409],
    [{ action: "disable", reason: "spam", undoes }, 409],
    [{ action: "enable", undoes }, 303],
  ] as const)
    expect((await own.send(found, sent)).status).toBe(status);
  await untilAnswered(own, "m2", 302);
  expect((await own.operate("GET", "links/m1")).data.disabled_reason).toBe("legal");
  const others = await own.textOf("/admin/links?q=by:nobody");
  expect(others).toContain(en["admin.links.none"]);
});

test("deleted links count in a search, but show no host", async () => {
  await using own = await startSignedIn();
  for (const code of ["d0", "d1", "d2"])
    await own.shorten({ original_url: `https://${code}.example/`, custom_code: code });
  for (const code of ["d1", "d2"]) await own.operate("DELETE", `links/${code}?confirm=${code}`);
  const page = await own.textOf("/admin/found?q=d");
  expect(page).toContain(en["admin.found.disable.title"].other.replace("{count}", "3"));
  expect(page.match(/d\d\.example/g)).toEqual(["d0.example", "d0.example"]);
});

test("a long destination is shortened in lists, folded on the desk and complete on the page of its link", async () => {
  await using own = await startSignedIn();
  const original_url = `https://example.com/${"long".repeat(2000)}`;
  await own.shorten({ original_url, custom_code: "long" });
  await report(own, "long", { reason: "spam" });
  const links = await own.textOf("/admin/links");
  expect(links).toContain("/longlong");
  expect(links).not.toContain("long".repeat(75));
  const classes = (await elementsOf(await own.open("/admin"))).map(({ attributes }) => attributes["class"]);
  expect(classes).toContain("whole folded");
  expect(await own.textOf("/admin/links/long")).toContain(original_url);
});

test("hostile reports, notes, hosts and destinations are shown as text", async () => {
  await using own = await startSignedIn();
  const hostile = [...HOSTILE, `\u202E${MARK}\u0007`];
  for (const [nth, text] of hostile.entries()) {
    const code = `hostile${nth}`;
    const original_url = `https://example.com/${text}`.replaceAll("\u0007", "");
    expect((await own.shorten({ original_url, custom_code: code })).status).toBe(201);
    await report(own, code, { reason: "other", note: text });
    await own.operate("POST", `links/${code}/disable`, { reason: "other", note: text });
    await own.operate("PUT", `hosts/h${nth}.example`, { reason: "spam", note: text });
  }
  const search = new URLSearchParams({ q: hostile[1] ?? "", host: "example.com" }).toString();
  for (const path of [
    "/admin",
    `/admin/links?${search}`,
    `/admin/links?${new URLSearchParams({ host: hostile[0] ?? "", state: hostile[1] ?? "" }).toString()}`,
    "/admin/links",
    ...hostile.map((_, nth) => `/admin/links/hostile${nth}`),
    `/admin/found?${search}`,
    `/admin/hosts?${new URLSearchParams({ host: hostile[1] ?? "" }).toString()}`,
    "/admin/journal",
  ]) {
    const response = await own.open(path);
    expectGuarded(response);
    const page = await response.clone().text();
    expect(page.includes(`<script>${MARK}`), path).toEqual(false);
    const elements = await elementsOf(response);
    const harmful = elements.filter(
      ({ tag, attributes }) =>
        (tag === "img" && attributes["src"] === "x") ||
        Object.keys(attributes).some((name) => name.startsWith("on")) ||
        (tag === "a" && !/^(?:\/|\?|#)(?!\/)/.test(attributes["href"] ?? "")),
    );
    expect(harmful, path).toEqual([]);
  }
  const { data } = await own.operate("GET", "links/hostile0");
  expect(data.case.notes[0].note).toBe(hostile[0]);
  expect(data.history[0].note).toBe(hostile[0]);
});
