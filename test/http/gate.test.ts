import { beforeAll, describe, expect, test } from "bun:test";

import type { NewLink } from "../../src/links/link-store.ts";
import type { Target } from "../../src/links/target.ts";
import { checkPassword, hashPassword } from "../../src/links/terms/password.ts";
import { DAY_MS, HOUR_MS } from "../../src/links/time.ts";
import en from "../../src/locales/en.json";
import ko from "../../src/locales/ko.json";
import { addAllGuarded, addGuarded, hashCheaply } from "../support/guarded-links.ts";
import {
  openStoreOf,
  outcomeOf,
  type RunningService,
  shareService,
  startService,
  temporaryFolder,
} from "../support/service.ts";
import { linkOf, untilCounted, WINDOWS_CHROME } from "../visits/visits.ts";
import { elementsOf, HTML, sendForm } from "./markup.ts";
import { OPEN_REFUSALS, PASSWORD } from "./open-refusals.ts";
import { beginRequest, sendRaw } from "./raw.ts";
import { expectEnvelope, expectHead, type Mistake, rowsOf, SHORTEN_NAMES } from "./refusal.ts";

const TARGET = "https://example.com/where?to=go&so=%22#here";
/** Any trace of the destination. */
const DESTINATION = /example\.com/;
const PERSON = { "User-Agent": WINDOWS_CHROME, ...HTML };

const curt = shareService({ CACHE_SECONDS: "60", LIMIT_PASSWORDS: "off" });

const basic = (password: string, user = "") => ({
  Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
});

const send = (
  path: string,
  form: Readonly<Record<string, string>>,
  headers = {},
  service: RunningService = curt,
) => sendForm(service, path, form, { ...PERSON, ...headers });

/** Expects a response that neither redirects nor shows the destination, and that no cache may use for others. */
async function expectClosed(response: Response, status: number): Promise<string> {
  const text = await response.text();
  const { headers } = response;
  expect([response.status, headers.get("location")]).toEqual([status, null]);
  expect(headers.get("cache-control")).toBeOneOf(["no-store", "private, no-cache"]);
  expect([...headers].flat().join() + text).not.toMatch(DESTINATION);
  return text;
}

function expectOpen({ status, headers }: Response, expected = 302): void {
  expect([status, headers.get("location")]).toEqual([expected, TARGET]);
  expect(headers.get("cache-control")).toBe("no-store");
}

/** Keeps the queue of password checks full. Resolves with a function that stops it. */
async function fillChecks(): Promise<() => Promise<unknown>> {
  const cheap = await hashCheaply("another");
  const enough = new AbortController();
  const checking = Array.from({ length: 66 }, async (_, nth) => {
    while (!enough.signal.aborted)
      expect(await checkPassword("another", cheap, [`client ${nth}`])).toBe(true);
  });
  return () => {
    enough.abort();
    return Promise.all(checking);
  };
}

test("a link that starts later answers 404 at all its addresses until its start, but holds its code, and redirects from that millisecond on", async () => {
  await using service = await startService({ CACHE_SECONDS: "60" }, { standsStill: true });
  const [createdMs, startsMs] = [service.nowMs(), service.nowMs() + HOUR_MS];
  await addGuarded(service, "later", { startsMs, target: TARGET, createdMs });
  for (const nearlyMs of [0, HOUR_MS - 1]) {
    service.advance(nearlyMs);
    for (const method of ["GET", "HEAD"])
      expect(await expectClosed(await service.fetch("/later", { method }), 404)).toBe(
        method === "HEAD" ? "" : `{"status":"error","message":"${en.unknown}"}`,
      );
    for (const path of ["/later.svg", "/later+", "/later+qr", "/later+report"])
      await expectClosed(await service.fetch(path), 404);
    const report = { method: "POST", body: '{"reason":"spam"}' };
    await expectClosed(await service.fetch("/api/v1/links/later/reports", report), 404);
    const availability = await (await service.fetch("/api/v1/codes/later")).json();
    expect(availability).toMatchObject({ data: { available: false } });
  }
  service.advance(1);
  for (const method of ["GET", "HEAD", "GET"]) {
    const response = await service.fetch("/later", { method });
    expect([response.status, response.headers.get("location")]).toEqual([302, TARGET]);
  }
});

describe("a link with max_visits", () => {
  const statusOf = async (code: string, headers: Record<string, string> = {}, method = "GET") => {
    const { status } = await curt.fetch(`/${code}`, { method, headers });
    return status;
  };

  test("redirects that often, then answers 410 with the reason", async () => {
    await addGuarded(curt, "three", { maxVisits: 3, target: TARGET });
    for (let nth = 0; nth < 3; nth++) expectOpen(await curt.fetch("/three/"));
    for (let nth = 0; nth < 2; nth++) {
      const response = await curt.fetch("/three/");
      expect(response.headers.get("curt-reason")).toBe("link.used-up");
      const body = await expectClosed(response, 410);
      expect(JSON.parse(body)).toEqual({ status: "error", message: en["expired.visits"] });
    }
    for (const [language, words] of Object.entries({ en, ko })) {
      const page = await curt.fetch("/three", { headers: { ...HTML, "Accept-Language": language } });
      const text = await expectClosed(page, 410);
      expect(text).toContain(words["page.expired.title.visits"]);
      expect(text).toContain(words["expired.visits"]);
      expect(text).toContain(words["page.expired.ask"]);
      expect(text).not.toContain(en["page.expired.next"]);
    }
    expect((await linkOf(curt, "three"))["visits"]).toBe(0);
  });

  test("shows its limit on the preview, and counts people in the statistics", async () => {
    await addGuarded(curt, "people", { maxVisits: 3, target: TARGET });
    const preview = await curt.fetch("/people+", { headers: HTML });
    expect(await preview.text()).toContain(`<dt>${en["preview.max-visits"]}</dt><dd>3</dd>`);
    for (let nth = 0; nth < 3; nth++) expectOpen(await curt.fetch("/people", { headers: PERSON }));
    await untilCounted(curt, "people", 3);
  });

  test("isn't used up by crawlers, HEAD, prefetches or other methods", async () => {
    await addGuarded(curt, "looked", { maxVisits: 1, target: TARGET });
    for (const Accept of ["*/*", "text/html"]) {
      const headers = { "User-Agent": "facebookexternalhit/1.1;kakaotalk-scrap/1.0;", Accept };
      const response = await curt.fetch("/looked", { headers });
      expect(await expectClosed(response, 200)).toContain(en["counted.title"]);
    }
    await expectClosed(await curt.fetch("/looked", { method: "HEAD" }), 200);
    await expectClosed(await curt.fetch("/looked", { method: "HEAD", headers: PERSON }), 200);
    curt.expectFaults();
    for (const purpose of ["prefetch", "prefetch;prerender"]) {
      const response = await curt.fetch("/looked", { headers: { ...PERSON, "Sec-Purpose": purpose } });
      expect(response.headers.get("curt-reason")).toBe("link.prefetch");
      await expectClosed(response, 503);
    }
    for (const method of ["POST", "PUT"]) expect(await statusOf("looked", {}, method)).toBe(405);
    expectOpen(await curt.fetch("/looked", { headers: PERSON }));
    expect([await statusOf("looked"), await statusOf("looked", {}, "HEAD")]).toEqual([410, 410]);
  });

  test("redirects and counts command-line clients and HTTP libraries", async () => {
    const clients = ["", "curl/8.9.1", "python-requests/2.32", "Go-http-client/2.0", "unheard-of/1.0"];
    await addGuarded(curt, "clients", { maxVisits: clients.length, target: TARGET });
    for (const client of clients)
      expectOpen(await curt.fetch("/clients", { headers: { "User-Agent": client } }));
    expect(await statusOf("clients")).toBe(410);
  });
});

describe("a link with a password", () => {
  let closed: NewLink;
  beforeAll(async () => {
    closed = await addGuarded(curt, "closed", { password: PASSWORD, target: TARGET });
  });

  describe.each(rowsOf(OPEN_REFUSALS))("%s", (_, refusal) => {
    const { password } = refusal;
    const headers: Record<string, string> = password === undefined ? {} : basic(password);
    const [{ reason }] = refusal.mistakes as [Mistake];

    test("doesn't open the link for programs, which get a Basic challenge", async () => {
      const response = await curt.fetch("/closed", { headers });
      const challenge = 'Basic realm="https://curt.example/closed/", charset="UTF-8"';
      await expectEnvelope(
        response.clone() as Response,
        { ...refusal, headers: { "www-authenticate": challenge } },
        SHORTEN_NAMES,
      );
      await expectClosed(response, 401);
      await expectClosed(await curt.fetch("/closed", { method: "HEAD", headers }), 401);
    });

    test("doesn't open the link for browsers, which get the form and no challenge", async () => {
      const form: Record<string, string> = password === undefined ? {} : { password };
      for (const sent of [
        curt.fetch("/closed", { headers: { ...PERSON, ...headers } }),
        send("/closed", form),
      ]) {
        const response = await sent;
        expectHead(response, { ...refusal, status: 403 });
        expect(response.headers.get("www-authenticate")).toBeNull();
        const page = await expectClosed(response, 403);
        const error = reason === "password.missing" ? undefined : en[reason as "password.wrong"];
        expect(/id="password-error">([^<]*)</.exec(page)?.[1]).toEqual(error);
        expect(page).not.toContain("pass:word");
      }
    });
  });

  test("redirects with the right password and any user name", async () => {
    for (const user of ["", "anybody", "비밀"])
      for (const method of ["GET", "HEAD"])
        expectOpen(await curt.fetch("/closed", { method, headers: basic(PASSWORD, user) }));
    // A Mac may send Hangul decomposed.
    expectOpen(await curt.fetch("/closed", { headers: basic(PASSWORD.normalize("NFD")) }));
    const bearer = curt.fetch("/closed", { headers: { Authorization: "Bearer x" } });
    expect(await outcomeOf(bearer)).toBe("401 password.missing");
  });

  test("shows browsers a password page, without a challenge", async () => {
    for (const [language, words] of Object.entries({ en, ko })) {
      const response = await curt.fetch("/closed", { headers: { ...PERSON, "Accept-Language": language } });
      const copy = response.clone() as Response;
      expect(await expectClosed(response, 403)).toContain(words["password.title"]);
      const elements = await elementsOf(copy);
      const input = elements.find(({ attributes }) => attributes["name"] === "password");
      expect(input?.attributes).toMatchObject({ type: "password", autocomplete: "off", autofocus: "" });
    }
    // An image on another page, for example.
    const asset = await curt.fetch("/closed", { headers: { "Sec-Fetch-Site": "cross-site" } });
    expect(asset.headers.get("www-authenticate")).toBeNull();
    await expectClosed(asset, 403);
  });

  test("sets a cookie with an ASCII path for a request of HTTP/1.0 with a raw path", async () => {
    await addGuarded(curt, "날것", { passwordHash: await hashCheaply("p") });
    const body = "password=p";
    const head = `POST /날것 HTTP/1.0\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n`;
    const response = await sendRaw(curt.origin, head + body);
    expect(response).toStartWith("HTTP/1.1 303");
    expect(response).toMatch(/^set-cookie: password=[^;]+; Path=\/%EB%82%A0%EA%B2%83;/im);
  });

  test("redirects after its form, with a cookie that opens this link only, for 15 minutes", async () => {
    // Even if two links had the same hash.
    await addGuarded(curt, "other", { passwordHash: closed.terms?.passwordHash, target: TARGET });
    const response = await send("/closed", { password: PASSWORD });
    expectOpen(response, 303);
    const cookie = response.headers.get("set-cookie") ?? "";
    expect(cookie.replace(/=[^;]*/, "=")).toBe(
      "password=; Path=/closed; Max-Age=900; Secure; HttpOnly; SameSite=Lax",
    );
    expect(cookie).not.toContain("pass:word");
    const [Cookie = ""] = cookie.split(";", 1);
    for (const method of ["GET", "HEAD"])
      expectOpen(await curt.fetch("/closed", { method, headers: { Cookie } }));
    await expectClosed(await curt.fetch("/other", { headers: { Cookie } }), 401);
    expectOpen(await curt.fetch("/closed", { headers: { Cookie: `password=x; ${Cookie}` } }));
    for (const changed of [Cookie.slice(0, -1), Cookie.replace(/=\d/, "=9"), "password=", "password=1.x"])
      await expectClosed(await curt.fetch("/closed", { headers: { Cookie: changed } }), 401);
    curt.advance(15 * 60_000);
    await expectClosed(await curt.fetch("/closed", { headers: { Cookie } }), 401);
  });

  test("sets the cookie for the browser's spelling of the address", async () => {
    await addGuarded(curt, "여기", { password: PASSWORD, target: TARGET });
    const path = encodeURIComponent("여기".normalize("NFD")).toLowerCase();
    const response = await send(`/${path}/`, { password: PASSWORD });
    expect(response.headers.get("set-cookie")).toContain(`Path=/${path};`);
  });

  test("refuses cookies and passwords from before a change of its password", async () => {
    const link = await addGuarded(curt, "changed", { password: PASSWORD, target: TARGET });
    const response = await send("/changed", { password: PASSWORD });
    const headers = { Cookie: response.headers.get("set-cookie")?.split(";", 1)[0] ?? "" };
    expectOpen(await curt.fetch("/changed", { headers }));
    await using store = await openStoreOf(curt);
    const passwordHash = await hashCheaply("another");
    await store.update(link, { type: "edit", atMs: curt.nowMs(), passwordHash });
    await expectClosed(await curt.fetch("/changed", { headers }), 401);
    await expectClosed(await curt.fetch("/changed", { headers: basic(PASSWORD) }), 401);
    expectOpen(await curt.fetch("/changed", { headers: basic("another") }));
  });

  test("refuses a cookie that a clock far ahead has signed", async () => {
    using folder = temporaryFolder();
    await using ahead = await startService({}, { folder: folder.path });
    await addGuarded(ahead, "ahead", { password: PASSWORD, target: TARGET });
    ahead.advance(DAY_MS);
    const response = await sendForm(ahead, "/ahead", { password: PASSWORD });
    const headers = { Cookie: response.headers.get("set-cookie")?.split(";", 1)[0] ?? "" };
    expectOpen(await ahead.fetch("/ahead", { headers }));
    await using other = await startService({}, { folder: folder.path });
    await expectClosed(await other.fetch("/ahead", { headers }), 401);
  });

  test("accepts the form of its own page", async () => {
    for (const headers of [{ Origin: "null" }, { "Sec-Fetch-Site": "same-origin" }])
      expectOpen(await send("/closed/?language=ko", { password: PASSWORD }, headers), 303);
  });

  test("accepts no form of another site, even with the right password", async () => {
    for (const headers of [{ Origin: "https://evil.example" }, { "Sec-Fetch-Site": "cross-site" }])
      await expectClosed(await send("/closed", { password: PASSWORD }, headers), 403);
  });

  test("hides its destination from crawlers, pages, images and the API, and logs no password", async () => {
    const crawler = { "User-Agent": "Twitterbot/1.0" };
    for (const [headers, status] of [
      [HTML, 403],
      [crawler, 401],
      [{ ...crawler, ...HTML }, 403],
      [{ "Sec-Purpose": "prefetch" }, 401],
    ] as const)
      await expectClosed(await curt.fetch("/closed/", { headers }), status);
    const api = "/api/v1/links/closed";
    for (const path of ["/closed+", "/closed+qr", "/closed+report", "/closed.svg", api, `${api}/stats`])
      expect(await (await curt.fetch(path, { headers: PERSON })).text()).not.toMatch(DESTINATION);
    expect(curt.logged.join("")).not.toContain(PASSWORD);
  });

  test("counts limited visits only after the right password", async () => {
    await addGuarded(curt, "both", { password: PASSWORD, maxVisits: 3, target: TARGET });
    for (const headers of [{}, basic("wrong")])
      await expectClosed(await curt.fetch("/both", { headers }), 401);
    await expectClosed(await curt.fetch("/both", { headers: PERSON }), 403);
    await expectClosed(await send("/both", { password: "wrong" }), 403);
    await expectClosed(await curt.fetch("/both", { method: "HEAD", headers: basic(PASSWORD) }), 200);
    const response = await send("/both", { password: PASSWORD });
    expectOpen(response, 303);
    const Cookie = response.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
    expectOpen(await curt.fetch("/both", { headers: { Cookie } }));
    expectOpen(await curt.fetch("/both", { headers: basic(PASSWORD) }));
    await expectClosed(await curt.fetch("/both", { headers: basic(PASSWORD) }), 410);
    await expectClosed(await send("/both", { password: PASSWORD }), 410);
  });
});

test("the former password of a link never opens its new destination", async () => {
  await using store = await openStoreOf(curt);
  const former = await hashPassword(PASSWORD);
  const passwordHash = await hashCheaply("another");
  const destination = { originalUrl: "https://new.example/", target: "https://new.example/" as Target };
  for (let round = 0; round < 5; round++) {
    const link = await addGuarded(curt, `moved-${round}`, {
      passwordHash: former,
      maxVisits: 9,
      target: TARGET,
    });
    // Changed while the password is checked, which takes a while.
    const visiting = curt.fetch(`/moved-${round}`, { headers: basic(PASSWORD) });
    await store.update(link, { type: "edit", atMs: curt.nowMs(), destination, passwordHash });
    const { status, headers } = await visiting;
    expect([`302 ${TARGET}`, "401 null"]).toContain(`${status} ${headers.get("location")}`);
  }
});

test("a form whose body ends after the link was changed or disabled doesn't open it", async () => {
  await using store = await openStoreOf(curt);
  const [passwordHash, another] = [await hashCheaply(PASSWORD), await hashCheaply("another")];
  const links = await Promise.all(
    ["re-locked", "stopped"].map((code) => addGuarded(curt, code, { passwordHash, target: TARGET })),
  );
  const headers = { "Content-Type": "application/x-www-form-urlencoded" };
  const form = new URLSearchParams({ password: PASSWORD }).toString();
  const open = links.map(({ code }) => beginRequest(curt, `POST /${code}`, headers, form));
  await Promise.all(open.map(({ hasStarted }) => hasStarted));
  const [changed, disabled] = links;
  if (changed === undefined || disabled === undefined) throw new Error("both were added");
  await store.update(changed, { type: "edit", atMs: curt.nowMs(), passwordHash: another });
  await store.disable([disabled], { who: "api", atMs: curt.nowMs(), reason: "phishing" });
  expect(await Promise.all(open.map(({ end }) => end()))).toEqual([401, 410]);
});

test("a password form that is sent twice uses up one visit", async () => {
  await addGuarded(curt, "twice", { password: PASSWORD, maxVisits: 1, target: TARGET });
  const page = await elementsOf(await curt.fetch("/twice", { headers: PERSON }));
  const form = page.find(({ attributes }) => attributes["name"] === "form")?.attributes["value"] ?? "";
  expectOpen(await send("/twice", { form, password: PASSWORD }), 303);
  await expectClosed(await send("/twice", { form, password: "wrong" }), 403);
  expectOpen(await send("/twice", { form, password: PASSWORD }), 303);
  await untilCounted(curt, "twice", 1);
});

test("a password form redirects to its address, with the query, if the link has no password any more", async () => {
  await curt.shorten({ original_url: TARGET, custom_code: "unlocked" });
  const response = await send("/unlocked?a=b", { form: "text", password: PASSWORD });
  expect([response.status, response.headers.get("location")]).toEqual([303, "/unlocked?a=b"]);
  const client = await curt.fetch("/unlocked", { method: "POST" });
  expect(client.status).toBe(405);
});

describe("wrong passwords", () => {
  test("are limited per client across links, and right ones don't count", async () => {
    await using service = await startService({ LIMIT_PASSWORDS: "3/1h" }, { standsStill: true });
    await addAllGuarded(service, ["one", "two"], { password: PASSWORD, target: TARGET });
    for (let nth = 0; nth < 5; nth++) expectOpen(await service.fetch("/one", { headers: basic(PASSWORD) }));
    const results: string[] = [];
    for (const path of ["/one", "/two", "/one", "/two"]) {
      const response = await send(path, { password: "wrong" }, {}, service);
      const page = await response.text();
      results.push(`${response.status} ${/id="password-error">([^<]*)</.exec(page)?.[1]}`);
    }
    expect(results).toEqual([
      `403 ${en["password.wrong"]} 2 attempts left.`,
      `403 ${en["password.wrong"]} 1 attempt left.`,
      `403 ${en["password.wrong"]} Too many attempts. Try again in 20 minutes.`,
      "429 Too many attempts. Try again in 20 minutes.",
    ]);
    const refusal = await service.fetch("/one", { headers: basic(PASSWORD) });
    expect(refusal.headers.get("curt-reason")).toBe("limit.password");
    expect(refusal.headers.get("retry-after")).toBe("1200");
    await expectClosed(refusal, 429);
    service.advance(HOUR_MS / 3);
    expectOpen(await service.fetch("/one", { headers: basic(PASSWORD) }));
  });

  test("are limited per link across clients", async () => {
    await using service = await startService({ LIMIT_PASSWORDS: "1/1d", TRUSTED_PROXIES: "127.0.0.1" });
    await addAllGuarded(service, ["one", "two"], { password: PASSWORD, target: TARGET });
    const from = (nth: number) => ({ "X-Forwarded-For": `192.0.2.${nth}` });
    for (let nth = 1; nth <= 10; nth++)
      await expectClosed(await service.fetch("/one", { headers: { ...from(nth), ...basic("wrong") } }), 401);
    await expectClosed(await service.fetch("/one", { headers: { ...from(11), ...basic(PASSWORD) } }), 429);
    expectOpen(await service.fetch("/two", { headers: { ...from(11), ...basic(PASSWORD) } }));
    service.advance(DAY_MS / 10);
    expectOpen(await service.fetch("/one", { headers: { ...from(11), ...basic(PASSWORD) } }));
  });

  test("from one /48 don't lock other networks out of a link", async () => {
    await using service = await startService({ LIMIT_PASSWORDS: "2/1d", TRUSTED_PROXIES: "127.0.0.1" });
    await addAllGuarded(service, ["one", "two"], { password: PASSWORD, target: TARGET });
    const visit = (path: string, address: string, password: string) =>
      service.fetch(path, { headers: { "X-Forwarded-For": address, ...basic(password) } });
    const statuses: number[] = [];
    for (let nth = 0; nth < 40; nth++)
      statuses.push((await visit("/one", `2001:db8:1:${nth}::1`, "wrong")).status);
    expect(statuses).toEqual(statuses.map((_, nth) => (nth < 2 ? 401 : 429)));
    for (const address of ["2001:db8:2::1", "192.0.2.1"]) expectOpen(await visit("/one", address, PASSWORD));
    expectOpen(await visit("/two", "2001:db8:1::1", PASSWORD));
  });
});

test("a full queue of password checks answers 429, except to passwords verified within 5 minutes", async () => {
  await using service = await startService({ LIMIT_PASSWORDS: "off" });
  await addAllGuarded(service, ["rush", "known"], { password: PASSWORD, target: TARGET });
  expectOpen(await service.fetch("/known", { headers: basic(PASSWORD) }));
  const stopChecking = await fillChecks();
  await expectClosed(await service.fetch("/rush", { headers: basic(PASSWORD) }), 429);
  expectOpen(await service.fetch("/known", { headers: basic(PASSWORD) }));
  await expectClosed(await service.fetch("/known", { headers: basic("wrong") }), 429);
  service.advance(5 * 60_000);
  await expectClosed(await service.fetch("/known", { headers: basic(PASSWORD) }), 429);
  await stopChecking();
  expectOpen(await service.fetch("/rush", { headers: basic(PASSWORD) }));
});

describe("right passwords", () => {
  const from = (address: string) => ({ "X-Forwarded-For": address, ...basic(PASSWORD) });
  const PROXIED = { TRUSTED_PROXIES: "127.0.0.1" };

  test.each([
    ["a few clients", (nth: number) => `192.0.2.${nth % 8}`],
    ["a /48 of IPv6", (nth: number) => `2001:db8:1:${nth}::1`],
  ])("sent at once by %s leave room for other clients and links", async (_client, addressOf) => {
    await using service = await startService({ ...PROXIED, LIMIT_PASSWORDS: "10/1h" });
    const passwordHash = await hashPassword(PASSWORD);
    const codes = Array.from({ length: 80 }, (_, nth) => `own-${nth}`);
    await addAllGuarded(service, [...codes, "other"], { passwordHash, target: TARGET });
    const { promise: full, resolve: isFull } = Promise.withResolvers<void>();
    const attack = codes.map(async (code, nth) => {
      const { status } = await service.fetch(`/${code}`, { headers: from(addressOf(nth)) });
      if (status === 429) isFull();
      return status;
    });
    await full;
    const visitors = Array.from({ length: 5 }, (_, nth) =>
      service.fetch("/other", { headers: from(`198.51.100.${nth}`) }),
    );
    for (const visitor of visitors) expectOpen(await visitor);
    expect(new Set(await Promise.all(attack))).toEqual(new Set([302, 429]));
  });

  test("are limited per client, which then can't probe which ones are cached", async () => {
    await using service = await startService({ ...PROXIED, LIMIT_PASSWORDS: "10/1h" }, { standsStill: true });
    const passwordHash = await hashCheaply(PASSWORD);
    const codes = Array.from({ length: 61 }, (_, nth) => `own-${nth}`);
    await addAllGuarded(service, codes, { passwordHash, target: TARGET });
    const visit = (code: string, address: string) => service.fetch(`/${code}`, { headers: from(address) });
    for (const code of codes.slice(0, 60)) expectOpen(await visit(code, "192.0.2.1"));
    const refusal = await visit("own-60", "192.0.2.1");
    expect(refusal.headers.get("curt-reason")).toBe("limit.password");
    expect(refusal.headers.get("retry-after")).toBe("1");
    await expectClosed(refusal, 429);
    await expectClosed(await visit("own-0", "192.0.2.1"), 429);
    expectOpen(await visit("own-0", "192.0.2.2"));
    service.advance(1000);
    for (let nth = 0; nth < 5; nth++) expectOpen(await visit("own-0", "192.0.2.1"));
    expectOpen(await visit("own-60", "192.0.2.1"));
    await expectClosed(await visit("own-0", "192.0.2.1"), 429);
  });

  test("can't be guessed from the cached ones while the queue of checks is full", async () => {
    await using service = await startService({ ...PROXIED, LIMIT_PASSWORDS: "3/1h" });
    await addGuarded(service, "known", { password: PASSWORD, target: TARGET });
    const visit = (address: string, password: string) =>
      service.fetch("/known", { headers: { ...from(address), ...basic(password) } });
    expectOpen(await visit("192.0.2.1", PASSWORD));
    const stopChecking = await fillChecks();
    for (let nth = 0; nth < 3; nth++) await expectClosed(await visit("192.0.2.2", `guess ${nth}`), 429);
    await expectClosed(await visit("192.0.2.2", PASSWORD), 429);
    expectOpen(await visit("192.0.2.1", PASSWORD));
    await stopChecking();
  });
});
