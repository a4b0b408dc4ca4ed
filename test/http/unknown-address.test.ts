import { beforeAll, expect, test } from "bun:test";

import { REASON_HEADER } from "../../src/http/problem-reasons.ts";
import { DAY_MS } from "../../src/links/time.ts";
import en from "../../src/locales/en.json";
import { damageStore } from "../stores/damage.ts";
import { addGuarded } from "../support/guarded-links.ts";
import { createManagedLink } from "../support/managed-links.ts";
import { disableLink, type LocalService, shareService, startService } from "../support/service.ts";
import { readServedForm } from "./served-form.ts";

const READER = { Accept: "text/html,*/*;q=0.8", "Accept-Language": "en" };

const curt = shareService();
beforeAll(async () => {
  for (const custom_code of ["Wiki", "TEAM", "École", "wEIRD", "abc", "가을", "👩‍🚀", "a_b"])
    await curt.shorten({ original_url: "https://example.com/secret", custom_code });
});

async function read(path: string, service: Pick<LocalService, "fetch"> = curt) {
  const response = await service.fetch(path, { headers: READER });
  const page = await response.text();
  const [, base = "", text = ""] =
    /<label class="prefixed" for="q"><bdi dir="ltr">(.*?)<\/bdi><input [^>]*value="([^"]*)"/.exec(page) ?? [];
  const [, meant] = /<div class="address"><p><a href="\/([^"]*)"/.exec(page) ?? [];
  const [, free] = /name="custom_code" value="([^"]*)"/.exec(page) ?? [];
  return { response, page, written: base + text, meant, free };
}

test.each([
  ["abc.", "abc"],
  ["abc)", "abc"],
  ["(abc).", "abc"],
  ["abc%22", "abc"],
  ["abc%2522", "abc"],
  ["%22abc%22", "abc"],
  ["abc'", "abc"],
  ["abc&gt;", "abc"],
  ["abc…", "abc"],
  ["abc%E2%80%8B", "abc"],
  ["abc**", "abc"],
  ["_abc_", undefined],
  ["abc_", "abc"],
  ["abc!?", "abc"],
  ["abc:8080", "abc"],
  ["abc/extra", "abc"],
  ["WIKI/extra", "Wiki"],
  ["ABC/a/b/", "abc"],
  ["weird/extra", undefined],
  ["abc.html", "abc"],
  ["abc)은", "abc"],
  ["abc를", "abc"],
  ["abc입니다.", "abc"],
  ["abc%20보세요,%20좋아요", "abc"],
  ["abc+.", "abc"],
  ["가을」", "가을"],
  ["가을은", "가을"],
  ["가을에서", "가을"],
  ["가을날", undefined],
  ["a_b.", "a_b"],
  ["👩‍🚀!", "👩‍🚀"],
  ["ABC", "abc"],
  ["aBC", "abc"],
  ["wiki", "Wiki"],
  ["WIKI", "Wiki"],
  ["Team", "TEAM"],
  ["%C3%A9cole", "École"],
  ["Abc.", undefined],
  // Neither any other capitals nor a code that is only similar: that would reveal codes to strangers.
  ["weird", undefined],
  ["abcd", undefined],
  ["abd.", undefined],
  // No link can have these codes.
  ["docs.", undefined],
  ["...", undefined],
  ["%FF", undefined],
])("the page for /%s suggests the code %p", async (path, code) => {
  const { response, meant, page } = await read(`/${path}`);
  expect(response.status).toBe(404);
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(meant === undefined ? undefined : decodeURIComponent(meant)).toBe(code);
  // Neither the destination nor a redirect to it.
  expect(page).not.toContain("example.com/secret");
  expect(response.headers.has("location")).toBeFalse();
});

test.each([
  ["a script", "a%3Cscript%3Ealert(1)%3C/script%3E", "curt.example/a&lt;script&gt;alert(1)&lt;/script&gt;"],
  ["an event handler", "a%22onclick=%22x", "curt.example/a&quot;onclick=&quot;x"],
  ["a bidi override", "%E2%80%AEmoc.elpmaxe.", "curt.example/%E2%80%AEmoc.elpmaxe."],
  ["a zero-width space", "a%E2%80%8B", "curt.example/a%E2%80%8B"],
  ["spaces", "a%20b%20", "curt.example/a b%20"],
  ["control characters", "a%00%0A.", "curt.example/a%00%0A."],
  ["invalid UTF-8", "%FF%FE.", "curt.example/%FF%FE."],
  ["a replacement pattern", "$&.", "curt.example/$&amp;."],
  ["70 characters", `${"x".repeat(70)}.`, `curt.example/${"x".repeat(64)}…`],
  ["9,000 characters", `${"x".repeat(9000)}.`, `curt.example/${"x".repeat(64)}…`],
  ["400 bidi overrides", `a.${"%E2%80%AE".repeat(400)}`, `curt.example/a.${"%E2%80%AE".repeat(62)}…`],
  ["several segments", "a/b/c", "curt.example/a/b/c"],
])("the page shows an address with %s as harmless text", async (_part, path, shown) => {
  const { response, written } = await read(`/${path}`);
  expect(response.status).toBe(404);
  expect(written).toBe(shown);
});

test("the page marks the characters of a suggested code that are in other capitals", async () => {
  const marked = async (path: string) => /<bdi>(?=[^<]*<mark>).*?<\/bdi>/.exec((await read(path)).page)?.[0];
  expect(await marked("/wiki")).toBe("<bdi><mark>W</mark>iki</bdi>");
  expect(await marked("/Team")).toBe("<bdi>T<mark>E</mark><mark>A</mark><mark>M</mark></bdi>");
  expect(await marked("/abc.")).toBeUndefined();
});

test("the page offers to create a link with the code if the code is valid", async () => {
  for (const code of ["unknown-code", "누구", "👩‍🚀👩‍🚀", "abc를"]) {
    const { free } = await read(`/${encodeURIComponent(code)}`);
    expect(free).toBe(code);
    const home = await (await curt.fetch(`/?custom_code=${encodeURIComponent(code)}`)).text();
    expect(home).toContain(`name="custom_code" value="${code}"`);
  }
  for (const path of ["nobody.", "docs/nobody", "a%20b", "x".repeat(65), "%E3%85%A4"])
    expect((await read(`/${path}`)).free).toBeUndefined();
});

test("a suggestion reveals no more of a link than a visit: links with a password or disabled ones, but no scheduled ones", async () => {
  await addGuarded(curt, "closed", { password: "long enough" });
  await createManagedLink(curt, { target: "https://example.com/secret", code: "later", starts_at: "24h" });
  await curt.shorten({ original_url: "https://example.com/secret", custom_code: "bad" });
  await disableLink(curt, "bad", "phishing");
  for (const [code, status] of [
    ["closed", 403],
    ["bad", 410],
    ["later", 404],
  ] as const) {
    const visit = await read(`/${code}`);
    expect(visit.response.status, code).toEqual(status);
    const { meant, page, response } = await read(`/${code}.`);
    expect([response.status, meant], code).toEqual([404, status === 404 ? undefined : code]);
    expect(page).not.toContain("secret");
  }
  // Exactly like a code without a link.
  const [later, never] = [await read("/later"), await read("/never")];
  expect(later.page.replaceAll("later", "never")).toBe(never.page);
  curt.advance(2 * DAY_MS);
  expect((await read("/later.")).meant).toBe("later");
});

test("clients that prefer JSON get an error without suggestions", async () => {
  for (const [path, reason, text] of [
    ["/abc%22", "link.unknown", en.unknown],
    ["/abc.", "route.unknown", en["not-found"]],
    ["/abc/extra", "route.unknown", en["not-found"]],
  ] as const) {
    for (let times = 0; times < 2; times++) {
      const response = await curt.fetch(path);
      expect([response.status, response.headers.get("curt-reason")]).toEqual([404, reason]);
      expect(await response.json()).toEqual({ status: "error", message: text });
    }
  }
  // The API has no pages, not even for browsers.
  const response = await curt.fetch("/api/v1/abc.", { headers: READER });
  expect(await response.json()).toEqual({
    status: "error",
    message: en["not-found"],
    errors: [{ field: null, reason: "route.unknown", message: en["not-found"] }],
  });
});

test.each(["/WIKI", "/api/v1/links/WIKI", "/api/v1/links/WIKI/stats"])(
  "a program at %s learns of the code in other capitals",
  async (path) => {
    const response = await curt.fetch(path, { headers: { "Accept-Language": "en" } });
    expect([response.status, response.headers.get("curt-reason")]).toEqual([404, "link.unknown"]);
    const { message } = (await response.json()) as { message: string };
    expect(message).toBe("There is no link with this code. Did you mean Wiki? Upper and lower case matter.");
    for (const language of ["ko", "ja"])
      expect(await (await curt.fetch(path, { headers: { "Accept-Language": language } })).text()).toMatch(
        /Wiki/,
      );
    const other = await curt.fetch(path.replace("WIKI", "weird"), { headers: { "Accept-Language": "en" } });
    expect(((await other.json()) as { message: string }).message).toBe(en.unknown);
  },
);

test("the pages of a link without one offer the code in other capitals", async () => {
  for (const suffix of ["+", "+qr", "+report"]) expect((await read(`/WIKI${suffix}`)).meant).toBe("Wiki");
});

test("the page says why the address may differ from the suggested one", async () => {
  for (const [path, isGlued] of [
    ["/WIKI", false],
    ["/WIKI/extra", false],
    ["/abc.", true],
  ] as const) {
    const { page } = await read(path);
    expect(page).toContain(en["page.unknown.next.match"]);
    expect(page.includes(en["page.unknown.glued"])).toBe(isGlued);
  }
});

test("each code looked up for a suggestion counts against LIMIT_UNKNOWN, and a client over it gets no suggestion", async () => {
  await using limited = await startService({ LIMIT_UNKNOWN: "9/1h" });
  await limited.shorten({ original_url: "https://example.com/", custom_code: "abc" });
  // One for the address, one for its other capitals together, and one for each other candidate that doesn't exist.
  expect((await read("/xyz", limited)).response.status).toBe(404); // 2
  expect((await read("/ABC", limited)).meant).toBe("abc"); // 3
  expect((await read("/abc.", limited)).meant).toBe("abc"); // 4
  expect((await read("/y.", limited)).response.status).toBe(404); // 6
  expect((await read("/y를.", limited)).response.status).toBe(404); // 9
  const { response, meant } = await read("/abc.", limited);
  expect([response.status, meant]).toEqual([429, undefined]);
  expect(response.headers.get("curt-reason")).toBe("limit.unknown");
  // Links still redirect.
  expect((await limited.fetch("/abc")).status).toBe(302);
});

test.each(["/", "/api/v1/links/"])(
  "a program's request at %s counts once, with all capitals",
  async (folder) => {
    await using limited = await startService({ LIMIT_UNKNOWN: "3/1h" });
    await limited.shorten({ original_url: "https://example.com/", custom_code: "abc" });
    const texts = [];
    for (const code of ["xyz", "XYZ", "ABC", "ABC"])
      texts.push(await (await limited.fetch(`${folder}${code}`)).text());
    expect(texts.map((text) => text.includes("Did you mean abc?"))).toEqual([false, false, true, false]);
    expect((await limited.fetch(`${folder}ABC`)).status).toBe(429);
  },
);

test("an unavailable store answers 503 and never 404", async () => {
  await using broken = await startService();
  broken.expectFaults();
  for (let nth = 0; nth < 50; nth++)
    await broken.shorten({ original_url: "https://example.com/", custom_code: `link${nth}` });
  damageStore(broken.file);
  for (const path of ["/link7", "/link7.", "/link7/extra"]) {
    const { response } = await read(path, broken);
    expect(response.status, path).toEqual(503);
    expect(response.headers.get("retry-after")).not.toBeNull();
  }
});

test("another spelling of a page's address is an unknown code", async () => {
  for (const path of ["/%64ocs", "/%61pi/", "/%6civez", "/readyz%EF%B8%8F"]) {
    const response = await curt.fetch(path);
    expect([path, response.status, response.headers.get(REASON_HEADER)]).toEqual([path, 404, "link.unknown"]);
  }
  expect((await curt.fetch("/docs/")).status).toBe(200);
});

test("the address can be corrected, and its form opens what is written", async () => {
  const page = await curt.fetch("/jira/ABC", { headers: READER });
  const { find, send } = await readServedForm(curt, page, 'form[action="/+go"]');
  const address = find(({ type }) => type === "text");
  expect(address.value).toBe("jira/ABC");
  address.value = "abc";
  expect((await send()).headers.get("location")).toBe("/abc");
});
