import { Database } from "bun:sqlite";
import { beforeAll, describe, expect, test } from "bun:test";

import { DAY_MS } from "../../src/links/time.ts";
import en from "../../src/locales/en.json";
import { LANGUAGES } from "../../src/locales/messages.ts";
import { assets } from "../../src/pages/assets/branding.ts";
import { damageStore } from "../stores/damage.ts";
import { shareService, startService } from "../support/service.ts";
import { type Element, elementsOf, expectGuarded, expectInert, HTML } from "./markup.ts";

const LONG = "https://example.com/long";

// Previews change with the time.
const curt = shareService({ CONTACT: "abuse@curt.example" }, { standsStill: true });
beforeAll(async () => {
  await curt.shorten({ original_url: LONG, custom_code: "taken" });
  await curt.shorten({ original_url: LONG, custom_code: "ended", expire_duration: "24h" });
  curt.advance(DAY_MS);
});

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return curt.fetch(path, { headers: { ...HTML, ...headers } });
}

test("a suffix behind a short address's slash redirects to that page of the link", async () => {
  for (const page of ["+", "+qr", "+report", "+manage"])
    for (const path of [`/taken/${page}`, `/taken/${page}/`]) {
      const { status, headers } = await get(path);
      expect([status, headers.get("location")], path).toEqual([308, `/taken${page}`]);
      const localized = await curt.fetch(`${path}?language=ko`, { headers: HTML, redirect: "manual" });
      expect(localized.headers.get("location")).toBe(`/taken${page}?language=ko`);
    }
});

describe("every page", () => {
  const PAGES = [
    ["/", 200, true],
    ["/?original_url=https://example.com/", 200, false],
    ["/taken+", 200, false],
    ["/ended+", 200, false],
    ["/taken+report", 200, false],
    ["/taken+qr", 200, false],
    ["/unknown-code+qr", 404, false],
    ["/+report", 200, false],
    ["/+report?address=nobody", 404, false],
    ["/+reported", 200, false],
    ["/unknown-code+report", 404, false],
    ["/ended", 410, false],
    ["/ended.svg", 410, false],
    ["/unknown-code", 404, false],
    ["/unknown-code+", 404, false],
    ["/no/such/page", 404, false],
    ["/%FF", 404, false],
  ] as const;

  test.each(PAGES)(
    "%s has security headers, well-formed markup in each language, and the same headers for HEAD",
    async (path, status, isPublic) => {
      for (const language of LANGUAGES) {
        const response = await get(path, { "Accept-Language": language });
        expect(response.status).toBe(status);
        expectGuarded(response, isPublic);
        expect(response.headers.get("content-language")).toBe(language);
        expect(response.headers.get("set-cookie")).toBeNull();
        const text = await response.clone().text();
        expect(text).toStartWith(`<!doctype html><html lang="${language}">`);
        expect(text).toEndWith("</html>");
        const elements = await elementsOf(response);
        expectInert(elements);
        expectComplete(elements);
        const head = await curt.fetch(path, {
          method: "HEAD",
          headers: { ...HTML, "Accept-Language": language },
        });
        const compared = ({ headers }: Response) => ({
          ...Object.fromEntries(headers),
          date: "",
          "content-length": "",
        });
        expect([head.status, compared(head)]).toEqual([status, compared(response)]);
        const compressed = await curt.fetch(path, {
          headers: { ...HTML, "Accept-Language": language, "Accept-Encoding": "gzip" },
          decompress: false,
        });
        const { byteLength } = await compressed.arrayBuffer();
        expect(head.headers.get("content-length")).toBe(String(byteLength));
      }
    },
  );

  /** Checks that every id a page refers to exists exactly once. */
  function expectComplete(elements: readonly Element[]): void {
    const ids = elements.flatMap(({ attributes }) => attributes["id"] ?? []);
    const referred = elements.flatMap(({ attributes: { for: field, href, ...aria } }) => [
      ...(field?.split(" ") ?? []),
      ...(aria["aria-labelledby"]?.split(" ") ?? []),
      ...(aria["aria-describedby"]?.split(" ") ?? []),
      ...(href?.startsWith("#") ? [href.slice(1)] : []),
    ]);
    expect(referred.filter((id) => !ids.includes(id))).toEqual([]);
    for (const once of ["h1", "main", "head"])
      expect(elements.filter(({ tag }) => tag === once)).toHaveLength(1);
  }
});

test("a 503 has security headers and keeps what was typed", async () => {
  await using away = await startService();
  await away.shorten({ original_url: LONG, custom_code: "away" });
  away.expectFaults();
  damageStore(away.file);
  for (const path of ["/away", "/away+"]) {
    const response = await away.fetch(path, { headers: HTML });
    expect(response.status).toBe(503);
    expectGuarded(response);
    expect(response.headers.get("retry-after")).toBe("2");
    expect(await response.text()).toContain('<a class="button primary" href="">Try again</a>');
  }
  const form = new URLSearchParams({ original_url: LONG, custom_code: "typed", expire_duration: "1week" });
  const response = await away.fetch("/", { method: "POST", body: form });
  expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
  expectGuarded(response, false, true);
  const page = await response.text();
  expect(page).toContain(`<p class="error" role="alert">${en.unavailable}</p>`);
  // The form keeps what was typed.
  expect(page).toContain(`value="${LONG}"`);
  expect(page).toContain('value="typed"');
  expect(page).toContain('value="1week" checked=""');
  expect(away.logged.join("")).toContain("the store cannot answer");
});

test("?language= sets a cookie on Curt's own pages, and for a reader without one who opens the address", async () => {
  for (const [site, cookie, setsCookie] of [
    ["same-origin", "language=en", true],
    ["cross-site", "", false],
    ["same-site", "", false],
    ["none", "", true],
    ["none", "language=en", false],
  ] as const) {
    const response = await get("/taken+?language=ko", { "Sec-Fetch-Site": site, Cookie: cookie });
    expect(response.headers.get("content-language")).toBe("ko");
    expect(response.headers.has("set-cookie"), site).toEqual(setsCookie);
  }
});

test("an unexpected error shows a page with status 500 and is logged once", async () => {
  await using broken = await startService();
  await broken.shorten({ original_url: LONG, custom_code: "broken" });
  broken.expectFaults();
  {
    using database = new Database(broken.file);
    // The service may be writing just now.
    database.run("PRAGMA busy_timeout = 60000");
    // Beyond the range of a Date, so the page can't show it.
    database.run("UPDATE links SET ends_ms = 9007199254740000");
  }
  const response = await broken.fetch("/broken+", { headers: HTML });
  expect(response.status).toBe(500);
  expectGuarded(response);
  expect(await response.text()).toContain(`<h1>${en["page.internal.title"]}</h1>`);
  expect(broken.logged.filter((line) => line.includes('"level":"error"'))).toHaveLength(1);
});

test("the language cookie is set only for readers who choose an existing language", async () => {
  for (const path of ["/", "/taken+", "/ended", "/nobody"]) {
    const chosen = await get(`${path}?language=ko`);
    expect(chosen.headers.get("content-language")).toBe("ko");
    expect(chosen.headers.get("set-cookie")).toBe(
      "language=ko; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax",
    );
    for (const unknown of ["xx", "", "KO", "__proto__", "ko;x"]) {
      const response = await get(`${path}?language=${unknown}`, { "Accept-Language": "ko" });
      expect(response.headers.get("set-cookie")).toBe(null);
      expect(response.headers.get("content-language")).toBe("ko");
    }
  }
});

test("the language cookie outweighs Accept-Language, unless its language doesn't exist", async () => {
  for (const path of ["/", "/taken+", "/ended", "/nobody"])
    for (const [Cookie, accepted] of [
      ["a=b; language=ko", "en"],
      ["language=xx", "ko"],
    ] as const) {
      const { headers } = await get(path, { Cookie, "Accept-Language": accepted });
      expect([path, Cookie, headers.get("content-language")]).toEqual([path, Cookie, "ko"]);
    }
});

test("each ended link's page shows its own end", async () => {
  await curt.shorten({ original_url: LONG, custom_code: "ended-too", expire_duration: "24h" });
  curt.advance(DAY_MS);
  const dates = await Promise.all(
    ["/ended", "/ended-too"].map(async (path) => {
      const elements = await elementsOf(await get(path));
      return elements.find(({ tag }) => tag === "time")?.attributes["datetime"];
    }),
  );
  expect(new Set(dates).size).toBe(2);
  expect(dates).not.toContain(undefined);
});

test("assets load nothing, and those without a hash in their address are cached for a day at most", async () => {
  for (const { path } of Object.values(assets)) {
    const { headers } = await curt.fetch(path);
    expect(headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  }
  for (const path of ["/favicon.ico", "/robots.txt", "/.well-known/security.txt"]) {
    const [, seconds] =
      /^public, max-age=(\d+)$/.exec((await curt.fetch(path)).headers.get("cache-control") ?? "") ?? [];
    expect(Number(seconds)).toBeLessThanOrEqual(86_400);
  }
});

test("responses that depend on Accept headers have a Vary header", async () => {
  const vary = async (path: string, init: RequestInit) => {
    const response = await curt.fetch(path, init);
    return [response.status, response.headers.get("content-type"), response.headers.get("vary")];
  };
  const [json, html] = ["application/json", "text/html; charset=utf-8"];
  expect(await vary("/nobody", { headers: { Accept: "*/*" } })).toEqual([
    404,
    json,
    "Accept, Accept-Language",
  ]);
  expect(await vary("/nobody", { headers: HTML })).toEqual([404, html, "Accept, Accept-Language, Cookie"]);
  // Only API clients use wrong methods, so this is always JSON.
  expect(await vary("/", { method: "PUT", headers: HTML })).toEqual([405, json, "Accept, Accept-Language"]);
});

test("each reader of an unknown address gets their own response every time", async () => {
  const ko = { "Accept-Language": "ko" };
  const FROM_HERE = { "Sec-Fetch-Site": "same-origin" };
  // The expected language, whether a cookie stores it, and whether the response is a page.
  const readers: readonly (readonly [string, Record<string, string>, readonly [string, boolean, boolean]])[] =
    [
      ["/nobody", HTML, ["en", false, true]],
      ["/nobody", { ...HTML, ...ko }, ["ko", false, true]],
      ["/nobody", { ...HTML, Cookie: "language=ko" }, ["ko", false, true]],
      ["/nobody", { ...HTML, "Accept-Encoding": "identity" }, ["en", false, true]],
      ["/nobody?language=ko", { ...HTML, ...FROM_HERE }, ["ko", true, true]],
      ["/nobody?language=ko", { ...HTML, "Sec-Fetch-Site": "same-site" }, ["ko", false, true]],
      ["/nobody", { Accept: "*/*" }, ["en", false, false]],
      ["/nobody", { Accept: "*/*", ...ko, Cookie: "language=en" }, ["ko", false, false]],
    ];
  const first = new Map<unknown, unknown>();
  for (const reader of [...readers, ...readers.toReversed()]) {
    const [path, headers, expected] = reader;
    const response = await curt.fetch(path, { headers });
    const text = await response.text();
    const language = response.headers.get("content-language");
    const isPage = text.startsWith(`<!doctype html><html lang="${language}">`);
    expect([language, response.headers.has("set-cookie"), isPage]).toEqual([...expected]);
    expect(response.headers.get("content-encoding")).toBeNull();
    const content = [response.status, { ...Object.fromEntries(response.headers), date: "" }, text];
    if (first.has(reader)) expect(content).toEqual(first.get(reader) as never);
    first.set(reader, content);
  }
});
