import { Database } from "bun:sqlite";
import { beforeAll, describe, expect, test } from "bun:test";

import en from "../../src/locales/en.json";
import { createAccessTokens, SESSION_MS } from "../../src/moderation/access-tokens.ts";
import { type Element, elementsOf, expectGuarded, HOSTILE, HTML, MARK, sendForm } from "../http/markup.ts";
import { callApi, createManagedLink } from "../support/managed-links.ts";
import { shareService, startService, temporaryFolder } from "../support/service.ts";
import { addMany, operateAs, report, seenOf, TOKEN, untilAnswered } from "./operator.ts";

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

async function signIn(service = curt, token = TOKEN): Promise<string> {
  const response = await post("/admin", { token }, "", {}, service);
  return /operator=([^;]+)/.exec(response.headers.get("set-cookie") ?? "")?.[1] ?? "";
}

/** A service with a signed-in operator, whose forms contain the session's token. */
async function startSignedIn(settings: Fields = {}) {
  const service = await startService({ ADMIN_TOKEN: TOKEN, ...settings });
  const session = await signIn(service);
  const form = createAccessTokens([{ secret: TOKEN }]).formToken({ secret: TOKEN }, session);
  const send = (path: string, fields: Fields) => post(path, { form, ...fields }, session, {}, service);
  return Object.assign(service, {
    operate: operateAs(service),
    open: (path: string) => get(path, session, service),
    openWith: (path: string, cookie: string) => get(path, `${session}; ${cookie}`, service),
    textOf: async (path: string) => (await get(path, session, service)).text(),
    send,
    /** Sends a form with several values of a field. */
    sendText: (path: string, body: string) =>
      service.fetch(path, {
        method: "POST",
        body,
        headers: {
          ...HTML,
          "Content-Type": "application/x-www-form-urlencoded",
          Cookie: `operator=${session}`,
        },
      }),
    /** Sends a form, and opens the page that it leads to, with the cookies that it sets. */
    async decide(path: string, fields: Fields) {
      const response = await send(path, fields);
      const location = response.headers.get("location") ?? "";
      const [cookie = ""] = /^decided=\d+/.exec(response.headers.get("set-cookie") ?? "") ?? [];
      const page = await get(location, `${session}; ${cookie}`, service);
      return { status: response.status, location, page };
    },
  });
}

/** The decision that a page reports, and the fields of its undo form. */
async function noticeOf(page: Response) {
  const text = await page.clone().text();
  const [, notice = ""] = /<div class="notice" role="status">(.*?)<\/strong>/s.exec(text) ?? [];
  const elements = await elementsOf(page);
  const valueOf = (field: string) =>
    elements.find(({ attributes: { name } }) => name === field)?.attributes["value"] ?? "";
  return {
    notice: notice.replaceAll(/<[^>]*>/g, ""),
    undo: { entry: valueOf("entry"), back: valueOf("back") },
  };
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
      expect([response.status, response.headers.get("set-cookie")], token).toEqual([403, null]);
      expectGuarded(response, false, true);
      const page = await response.text();
      expect(page).toContain(en["operator.wrong"].replace("'", "&#39;"));
      expect(page).not.toContain(TOKEN);
      if (token !== "") expect(page).not.toContain(token);
    }
  });

  test("ends when signing out, for copies of its cookie and after a restart as well, but neither in other browsers nor by a form of another site", async () => {
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
      const fromOther = await post("/admin/sign-out", {}, other, { "Sec-Fetch-Site": "cross-site" }, service);
      expect([fromOther.status, fromOther.headers.get("set-cookie")]).toEqual([403, null]);
      const own = await post("/admin/sign-out", {}, copy, {}, service);
      expect(own.headers.get("set-cookie")).toStartWith("operator=; Path=/admin; Max-Age=0");
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
});

describe("the operator's pages", () => {
  test("show only the sign-in form without an open session", async () => {
    const now = curt.nowMs();
    const sessions = {
      none: "",
      "an expired session": startSession(TOKEN, now - SESSION_MS),
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

  test("list more links than a page shows on the next one, with the same search", async () => {
    await using own = await startSignedIn();
    await addMany(own, 51);
    await own.shorten({ original_url: "https://other.example/", custom_code: "other" });
    const linksOf = async (path: string) =>
      (await elementsOf(await own.open(path))).map(({ attributes }) => attributes["href"] ?? "");
    const first = await linksOf("/admin/links?q=many.example");
    const next = first.find((href) => /^\/admin\/links\?.*cursor=/.test(href)) ?? "";
    const all = [...first, ...(await linksOf(next.replaceAll("&amp;", "&")))];
    const codes = all.flatMap((href) => /^\/admin\/links\/(\w+)$/.exec(href)?.[1] ?? []);
    expect(codes.toSorted()).toEqual(Array.from({ length: 51 }, (_, nth) => `many${nth}`).toSorted());
  });

  test("refuse a form of another site or without the session's form token", async () => {
    const session = await signIn();
    const form = await formTokenOf(session);
    const forms: [string, Fields][] = [
      ["/admin/links/any", { action: "disable", reason: "spam" }],
      ["/admin/hosts", { action: "block", host: "example.com", reason: "spam" }],
      [FOUND, { action: "disable", reason: "spam", count: "1" }],
      ["/admin/journal", { entry: "1", back: "/admin" }],
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

  test("show what is wrong with a form and keep what was typed, also for Back, and change nothing", async () => {
    const session = await signIn();
    const form = await formTokenOf(session);
    const seen = await seenOf(curt, "any");
    const LINK = "/admin/links/any";
    const disable = { action: "disable", reason: "legal", note: "mine", seen };
    const answer = { ...disable, action: "block-host" };
    const change = {
      action: "change",
      seen,
      note: "mine",
      target: "https://new.example/",
      expires_at: "24h",
    };
    const block = { action: "block", reason: "legal", note: "mine" };
    const found = { ...disable, count: "7", block: "example.com" };
    const long = "n".repeat(2001);
    const invalidReason = "It must be one of";
    for (const [path, fields, status, alert, kept] of [
      ["/admin/hosts", { ...block, host: "a b" }, 400, en["host.invalid"], ["mine", "legal*", "a b"]],
      ["/admin/hosts", { ...block, host: "curt.example" }, 400, en["host.own"]],
      [LINK, { ...disable, reason: "ugly" }, 400, invalidReason, ["mine"]],
      [LINK, { ...disable, note: long }, 400, "2,000", [long, "legal*"]],
      [FOUND, found, 409, en["operator.count"].replace("{count}", "1"), ["mine", "legal*", "example.com*"]],
      [FOUND, { ...found, count: "1", reason: "" }, 400, invalidReason, ["mine", "example.com*"]],
      [LINK, { ...answer, action: "" }, 400, invalidReason],
      [LINK, { ...answer, action: "forget" }, 400, invalidReason],
      [LINK, { ...answer, reason: "" }, 400, invalidReason],
      [LINK, { ...answer, seen: "" }, 412, en["admin.changed"]],
      [LINK, { ...disable, seen: `${seen}x` }, 412, en["admin.changed"], ["mine", "legal*"]],
      // Deleting takes the box that says so.
      [LINK, { action: "erase", seen }, 400, en["field.required"]],
      [
        LINK,
        { ...change, expires_at_date: "2099-02-30T03:04", zone: "Asia/Seoul" },
        400,
        en["home.date.wrong"],
        ["mine", "https://new.example/", "24h*", "2099-02-30T03:04", "Asia/Seoul"],
      ],
      [
        LINK,
        { ...change, expires_at_date: "2099-02-03T03:04", zone: "Nowhere/Land" },
        400,
        "Enter the date in UTC.",
      ],
      ["/admin/journal", { entry: "x" }, 404, en["decision.unknown"]],
    ] as [string, Fields, number, string, string[]?][]) {
      const refusal = await post(path, { ...fields, form }, session);
      expectGuarded(refusal, false, true);
      const [, text] = /role="alert">([^<]*)</.exec(await refusal.clone().text()) ?? [];
      expect([refusal.status, text], path).toEqual([status, expect.stringContaining(alert)]);
      const values = (await elementsOf(refusal)).map(({ attributes }) =>
        "selected" in attributes || "checked" in attributes ? `${attributes["value"]}*` : attributes["value"],
      );
      for (const value of kept ?? []) expect(values, path).toContain(value);
    }
    const search = await get("/admin/links?host=a/b", session);
    expect([search.status, await search.text()]).toEqual([400, expect.stringContaining(en["host.invalid"])]);
    expect((await curt.fetch("/any")).status).toBe(302);
    expect((await operateAs(curt)("GET", "journal")).data.entries).toEqual([]);
  });

  test("show the manage address of a link, which works", async () => {
    await using own = await startSignedIn();
    await own.shorten({ original_url: "https://example.com/", custom_code: "moved" });
    const elements = await elementsOf(await own.open("/admin/links/moved"));
    const copies = elements.flatMap(({ attributes }) => attributes["data-copy"] ?? []);
    const address = copies.find((text) => text.includes("#key="));
    const [, key = ""] = /^https:\/\/curt\.example\/moved\+#key=(.+)$/.exec(address ?? "") ?? [];
    const managed = await callApi(own, "PATCH", "/api/v1/links/moved", { key, body: { expires_at: "24h" } });
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
    const desk = async (path = "/admin") => own.textOf(path);
    const empty = await desk();
    for (const text of [`<title>${en["admin.cases"]} – `, en["admin.nothing"]]) expect(empty).toContain(text);
    const targets = ["https://paypal.com.evil.example/안녕", "http://plain.example/"];
    for (const [nth, original_url] of targets.entries()) {
      await own.shorten({ original_url, custom_code: `r${nth}` });
      await report(own, `r${nth}`, { reason: "phishing", note: `in my words ${nth}` });
    }
    const page = await desk();
    expect(page).toContain(`<title>(2) ${en["admin.cases"]} – `);
    for (const text of ["in my words 0", "안녕", "plain.example"]) expect(page).toContain(text);
    const second = await desk("/admin?code=r1");
    for (const text of ["in my words 1", en["hint.http"]]) expect(second).toContain(text);
    await own.operate("POST", "cases/r1", { action: "nothing" });
    expect(await desk()).not.toContain("plain.example");
    // Somebody who comes for it learns the answer.
    const closed = await desk("/admin?code=r1");
    for (const text of [en["admin.did.nothing-wrong"], en["admin.case.page"]]) expect(closed).toContain(text);
    expect(closed).not.toContain('value="block-host"');
    // Every page counts them.
    expect(await own.textOf("/admin/journal")).toContain('<span class="count">1</span>');
  });

  test("reports a decision once, whatever its address, and refuses a second undo of it", async () => {
    await using own = await startSignedIn();
    await own.shorten({ original_url: "https://once.example/", custom_code: "once" });
    await report(own, "once", { reason: "spam" });
    const seen = await seenOf(own, "once");
    const decided = await own.decide("/admin/links/once", { back: "/admin", action: "nothing", seen });
    expect(decided.page.headers.get("set-cookie")).toMatch(/^decided=; Path=\/admin; Max-Age=0/);
    const { notice, undo } = await noticeOf(decided.page);
    expect(notice).toBe(en["admin.did.nothing-wrong"]);
    const claims = "did=nothing&code=once&was=spam&block=my-shop.example&done=3&undoes=1&entry=1&decided=1";
    for (const path of ["/admin", "/admin/links", "/admin/hosts"]) {
      const page = await own.textOf(`${path}?${claims}`);
      expect(page).not.toContain('role="status"');
      // The desk shows the answer to the case, and what the operator decided today.
      expect(page.match(/name="entry"/g)?.length ?? 0).toBe(path === "/admin" ? 2 : 0);
    }
    expect((await own.send("/admin/journal", undo)).status).toBe(303);
    const again = await own.send("/admin/journal", undo);
    expect([again.status, await again.text()]).toEqual([409, expect.stringContaining(en["decision.undone"])]);
    expect((await own.operate("GET", "cases")).data.cases).toMatchObject([{ state: "open" }]);
  });

  test("answers a case whose link is gone, even if its code has another link", async () => {
    await using own = await startSignedIn();
    for (const code of ["gone", "again"]) {
      await own.shorten({ original_url: "https://gone.example/", custom_code: code });
      await report(own, code, { reason: "spam" });
    }
    // As after an import of cases without their links.
    using file = new Database(own.file);
    file.run("UPDATE cases SET created_ms = created_ms - 1 WHERE code = 'again'");
    file.run("UPDATE cases SET code = 'nowhere' WHERE code = 'gone'");
    const seenIn = async (code: string) => {
      const { cases } = (await own.operate("GET", "cases")).data;
      return cases.find((one: any) => one.code === code).revision;
    };
    for (const [code, seen] of [
      ["nowhere", await seenIn("nowhere")],
      ["again", await seenIn("again")],
    ] as const) {
      expect(await own.textOf(`/admin?code=${code}`)).toContain(`name="seen" value="${seen}"`);
      const fields = { action: "nothing", seen, back: "/admin" };
      expect((await own.send(`/admin/links/${code}`, { ...fields, note: "x".repeat(2001) })).status).toBe(
        400,
      );
      const decided = await own.decide(`/admin/links/${code}`, fields);
      expect([decided.status, decided.location]).toEqual([303, "/admin"]);
      expect(await own.textOf("/admin")).not.toContain(`name="seen" value="${seen}"`);
      const reopened = await own.operate("POST", `cases/${code}`, { action: "reopen" }, `"${seen}"`);
      expect([reopened.status, reopened.data]).toEqual([
        200,
        { code, changed: true, id: expect.any(Number) },
      ]);
      const disabled = await own.operate(
        "POST",
        `cases/${code}`,
        { action: "disable", reason: "spam" },
        `"${seen}"`,
      );
      expect(disabled.status).toBe(410);
      expect((await own.operate("POST", `links/${code}/enable`, {}, `"${seen}"`)).status).toBe(
        code === "again" ? 412 : 404,
      );
    }
    expect((await own.operate("GET", "links/again")).data.disabled_reason).toBeNull();
  });

  test("offers no undo of another operator's decision, although another site of the domain may set the cookie", async () => {
    const other = "another-operators-own-secret";
    await using own = await startSignedIn({ ADMIN_TOKEN: `alice:${TOKEN} bob:${other}` });
    await own.send("/admin/hosts", { action: "block", host: "evil.example", reason: "spam" });
    const [{ id }] = (await own.operate("GET", "journal")).data.entries;
    const bobs = await get("/admin", `${await signIn(own, other)}; decided=${id}`, own);
    expect([bobs.status, (await noticeOf(bobs)).notice]).toEqual([200, ""]);
    expect((await noticeOf(await own.openWith("/admin", `decided=${id}`))).notice).not.toBe("");
  });

  test("redirects only to the operator's pages after a decision", async () => {
    await using own = await startSignedIn();
    for (const [nth, back] of ["//evil.example/", "https://evil.example/admin", "/admin\r\nX: y"].entries()) {
      await own.operate("PUT", `hosts/h${nth}.example`, { reason: "spam" });
      const [{ id }] = (await own.operate("GET", "journal")).data.entries;
      const response = await own.send("/admin/journal", { entry: String(id), back });
      expect([response.status, response.headers.get("location")]).toEqual([303, "/admin"]);
    }
  });
});

describe("the journal", () => {
  test("shows what each decision replaced and who undid it, and undoes those that can be undone", async () => {
    const alice = "alice:a-long-secret-of-alice";
    await using own = await startSignedIn({ ADMIN_TOKEN: `${TOKEN} ${alice}` });
    await own.shorten({ original_url: "https://a.example/", custom_code: "a" });
    await own.operate("POST", "links/a/disable", { reason: "spam", note: "<i>" });
    await own.operate("POST", "links/a/disable", { reason: "malware" });
    await own.operate("PUT", "hosts/a.example", { reason: "legal" });
    const rows = async () =>
      [...(await own.textOf("/admin/journal")).matchAll(/<li[^>]*>(.*?)<\/li>/gs)]
        .map(([, row = ""]) => row)
        .filter((row) => row.includes("<strong>"));
    const before = (states: string) => en["admin.replaced"].replace("{states}", states);
    const [host = "", second = "", first = ""] = await rows();
    expect(host).toContain(before(en["admin.unblocked"]));
    expect(second).toContain(before("Disabled: spam"));
    expect(first).toContain(before(en["admin.state.active"]));
    expect([host, second, first].map((row) => row.includes('name="entry"'))).toEqual([true, true, false]);
    const [, entry = ""] = /name="entry" value="(\d+)"/.exec(second) ?? [];
    await operateAs(own, alice.split(":")[1])("POST", `decisions/${entry}/undo`);
    const [undo = "", , undone = "", standing = ""] = await rows();
    expect(undo).toContain(en["admin.did.undo"]);
    expect(undo).not.toContain('name="entry"');
    expect(undone).toMatch(new RegExp(`${en["admin.did.undone"]} · <bdi dir="auto">alice`));
    expect(undone).not.toContain('name="entry"');
    expect(standing).toContain('name="entry"');
  });
});

test("a filtered journal continues on the page after one on which it found nothing", async () => {
  await using service = await startSignedIn();
  using database = new Database(service.file);
  const insert = database.prepare(
    "INSERT INTO journal (entry, at_ms, who, operator, action) VALUES (?, 0, 'page', ?, 'disable')",
  );
  for (const [entry, name] of [
    [1, "old"],
    [9000, "new"],
  ] as const)
    insert.run(entry, name);
  const none = await service.open("/admin/journal?by=old");
  expect(none.headers.get("refresh")).toBe("0; url=/admin/journal?by=old&cursor=4001");
  const found = await service.open("/admin/journal?by=old&cursor=4001");
  expect(found.headers.get("refresh")).toBeNull();
  expect(await found.text()).toContain(en["admin.entry"].replace("{entry}", "1"));
  expect((await service.open("/admin/journal?by=nobody&cursor=4001")).headers.get("refresh")).toBeNull();
});

describe("a link that changed after the operator saw it", () => {
  const [SEEN, CHANGED] = ["https://evil-bank.example/login", "https://www.google.com/"];

  async function startReported() {
    const own = await startSignedIn();
    const { code, key, path } = await createManagedLink(own, { target: SEEN });
    await report(own, code, { reason: "phishing" });
    const change = (body: unknown) => callApi(own, "PATCH", path, { key, body });
    return Object.assign(own, { code, change });
  }

  const valuesOf = (elements: readonly Element[], field: string) =>
    elements.flatMap(({ attributes: { name, value = "" } }) => (name === field ? [value] : []));

  test("is shown in its new state beside the one that was seen, and no decision about it or its host takes effect", async () => {
    await using own = await startReported();
    const { code, change, send } = own;
    const desk = async () => elementsOf(await own.open("/admin"));
    const fields = await desk();
    const [seen = "", was = ""] = ["seen", "was"].flatMap((field) => valuesOf(fields, field));
    expect(was).toBe(SEEN);
    expect((await change({ target: CHANGED })).status).toBe(200);
    for (const action of ["disable", "block-host", "nothing", "enable", "change", "erase"]) {
      const decision = { action, reason: "malware", note: "my note", expires_at: "24h", confirm: code };
      const refusal = await send(`/admin/links/${code}`, { ...decision, seen, was });
      expect(refusal.status, action).toBe(412);
      const page = await refusal.clone().text();
      expect(page).toContain(en["admin.changed"]);
      expect(page.replaceAll(/<[^>]*>/g, "")).toContain(`${en["admin.changed.was"]}${SEEN}`);
      expect(page).toContain("<strong>google.com</strong>");
      expect(page).toContain('name="reason" value="malware"');
      const elements = await elementsOf(refusal);
      expect(valuesOf(elements, "note")).toContain("my note");
      expect(valuesOf(elements, "seen")).not.toContain(seen);
    }
    const { data } = await own.operate("GET", `links/${code}`);
    expect(data).toMatchObject({ target: CHANGED, state: "active", case: { state: "open" }, history: [] });
    expect((await own.operate("GET", "hosts")).data.hosts).toEqual([]);
    const [now = ""] = valuesOf(await desk(), "seen");
    expect((await send(`/admin/links/${code}`, { action: "nothing", seen: now })).status).toBe(303);
  });

  test("is disabled anyway, although its maker changes it again", async () => {
    await using own = await startReported();
    const { code, change, send } = own;
    const seen = await seenOf(own, code);
    const disable = { action: "disable", reason: "phishing", seen, was: SEEN };
    expect((await change({ max_visits: 50 })).status).toBe(200);
    const refusal = await send(`/admin/links/${code}`, disable);
    expect(refusal.status).toBe(412);
    expect(await refusal.clone().text()).toContain(en["admin.changed.terms"]);
    expect(valuesOf(await elementsOf(refusal), "action")).toContain("disable-anyway");
    expect((await change({ target: CHANGED })).status).toBe(200);
    const decided = await own.decide(`/admin/links/${code}`, { ...disable, action: "disable-anyway" });
    expect([decided.status, (await noticeOf(decided.page)).notice]).toEqual([303, en["admin.did.disable"]]);
    await untilAnswered(own, code, 410);
    expect((await own.operate("GET", "cases")).data.cases).toMatchObject([{ state: "answered" }]);
  });
});

describe("a host with more than 20 links", () => {
  test("is blocked from the desk or the page of hosts after a question that says how many it stops", async () => {
    await using own = await startSignedIn();
    await addMany(own, 22);
    await report(own, "many1", { reason: "spam" });
    const links = en["admin.found.links"].other.replace("{count}", "22");
    const desk = await own.textOf("/admin");
    expect(desk).toContain("/admin?code=many1&amp;action=block-host");
    expect(desk).not.toContain('value="block-host"');
    const question = await own.textOf("/admin?code=many1&action=block-host");
    expect(question).toContain(en["admin.ask"].replace("{host}", "many.example").replace("{links}", links));
    expect(question).toContain('value="block-host"');

    const block = { action: "block", host: "many.example", reason: "spam", note: "mine" };
    const asked = await own.send("/admin/hosts", block);
    const page = await asked.clone().text();
    expect([asked.status, page.includes(en["admin.hosts.stop"].replace("{links}", links))]).toEqual([
      200,
      true,
    ]);
    expect(page).toContain('value="mine"');
    expect((await own.operate("GET", "hosts")).data.hosts).toEqual([]);
    const count = (await elementsOf(asked)).find(({ attributes: { name } }) => name === "count");
    expect(count?.attributes["value"]).toBe("22");
    expect((await own.send("/admin/hosts", { ...block, count: "22" })).status).toBe(303);
    expect((await own.operate("GET", "hosts")).data.hosts).toMatchObject([{ host: "many.example" }]);
  });
});

test("selected links are disabled and enabled as one decision, but not a later link of their code", async () => {
  await using own = await startSignedIn();
  for (const custom_code of ["s1", "s2", "s3"])
    await own.shorten({ original_url: `https://${custom_code}.example/`, custom_code });
  const elements = await elementsOf(await own.open("/admin/links?q=s"));
  const valuesOf = (field: string) =>
    elements.flatMap(({ attributes: { name, value = "" } }) => (name === field ? [value] : []));
  expect(valuesOf("code").toSorted()).toEqual(["s1", "s2", "s3"]);
  const [until = ""] = valuesOf("until");
  own.advance(1000);
  await own.shorten({ original_url: "https://later.example/", custom_code: "later" });
  const [form = ""] = valuesOf("form");
  const body = new URLSearchParams([
    ["form", form],
    ["until", until],
    ["action", "disable:phishing"],
    ...["s1", "s3", "later", "nobody"].map((code): [string, string] => ["code", code]),
  ]);
  const sent = await own.sendText("/admin/links?q=s", body.toString());
  expect([sent.status, sent.headers.get("location")]).toEqual([303, "/admin/links?q=s"]);
  for (const code of ["s1", "s3"]) await untilAnswered(own, code, 410);
  for (const code of ["s2", "later"]) expect((await own.fetch(`/${code}`)).status).toBe(302);
  const { entries } = (await own.operate("GET", "journal")).data;
  expect(entries).toMatchObject([{ action: "disable", links: 2, reason: "phishing" }]);
  // Without a selection, nothing is decided.
  expect((await own.send("/admin/links", { action: "disable:spam", until })).status).toBe(303);
  expect((await own.operate("GET", "journal")).data.entries).toHaveLength(1);
});

test("the notice about a blocked host names the host", async () => {
  await using own = await startSignedIn();
  await own.shorten({ original_url: "https://www.evil.example/", custom_code: "나쁜링크" });
  await report(own, "나쁜링크", { reason: "phishing" });
  const seen = await seenOf(own, encodeURIComponent("나쁜링크"));
  const path = `/admin/links/${encodeURIComponent("나쁜링크")}`;
  const { page } = await own.decide(path, { action: "block-host", reason: "phishing", seen });
  expect(await page.text()).toMatch(
    /role="status">.*Blocked host<\/strong>.*<bdi dir="ltr">www\.evil\.example</s,
  );
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
    expect((await optionsOf(await own.open(`${hosts}&reason=phishing`))).slice(0, 2)).toEqual([
      "malware",
      "phishing*",
    ]);
    for (const path of ["/admin", "/admin/links/bad"])
      expect(await own.textOf(path), path).toContain('name="reason" value="phishing"');
    expect(await own.textOf("/admin/links/quiet")).toContain("/admin/hosts?host=example.com&amp;reason=");
  });
});

test("the page of a link links to all links of its creator, and a decision about them leaves out those created since", async () => {
  const token = "mina:a-long-secret-of-mina";
  await using own = await startSignedIn({ CREATE_TOKEN: token });
  const create = (custom_code: string) =>
    own.shorten(
      { original_url: `https://${custom_code}.example/`, custom_code },
      { Authorization: `Bearer ${token}` },
    );
  for (const code of ["m1", "m2"]) await create(code);
  const [, path = ""] = /<a href="([^"]+)">mina<\/a>/.exec(await own.textOf("/admin/links/m1")) ?? [];
  const list = await own.textOf(path);
  for (const code of ["m1", "m2"]) expect(list).toContain(`href="/admin/links/${code}"`);
  const found = path.replace("links", "found");
  for (const action of ["disable", "enable"]) expect(list).toContain(`${found}&amp;action=${action}`);
  const elements = await elementsOf(await own.open(`${found}&action=disable`));
  const [count = "", until = ""] = ["count", "until"].map(
    (field) => elements.find(({ attributes: { name } }) => name === field)?.attributes["value"],
  );
  own.advance(1);
  await create("late");
  const disabled = await own.decide(found, { action: "disable", count, until, reason: "spam" });
  expect([disabled.status, disabled.location]).toEqual([303, path]);
  for (const code of ["m1", "m2"]) await untilAnswered(own, code, 410);
  expect((await own.fetch("/late")).status).toBe(302);
  const { notice, undo } = await noticeOf(disabled.page);
  expect([notice, undo.back]).toEqual([en["admin.did.disable"], path]);
  expect(await own.textOf("/admin/links?q=by:nobody")).toContain(en["admin.links.none"]);
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
    expectGuarded(response, false, response.status >= 400);
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
