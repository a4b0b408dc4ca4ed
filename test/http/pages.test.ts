import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import en from "../../src/language/en.json";
import { assets } from "../../src/pages/assets/assets.ts";
import { makeUnreadable } from "../durability/damage.ts";
import { BASE_URL, type Running, startHere } from "../service.ts";
import { untilCounted, visit } from "../visits/visits.ts";
import { type Element, elementsOf, expectGuarded, expectInert, HTML } from "./markup.ts";

const LONG = "https://example.com/long";

let curt: Running;
beforeAll(async () => {
  curt = await startHere({ CONTACT: "abuse@curt.example" });
  await curt.shorten({ original_url: LONG, custom_code: "taken" });
  await curt.shorten({ original_url: LONG, custom_code: "ended", expire_duration: "24h" });
  using database = new Database(curt.file);
  database.run("UPDATE links SET ends_ms = ? WHERE code = 'ended'", [Date.now() - 60_000]);
});
afterAll(async () => curt[Symbol.asyncDispose]());

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return curt.fetch(path, { headers: { ...HTML, ...headers } });
}

function post(fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Response> {
  const body = new URLSearchParams(fields);
  return curt.fetch("/", { method: "POST", body, headers: { ...HTML, ...headers } });
}

describe("every page", () => {
  const PAGES = [
    ["/", 200, true],
    ["/?original_url=https://example.com/", 200, false],
    ["/taken+", 200, false],
    ["/ended+", 200, false],
    ["/ended", 410, false],
    ["/ended.svg", 410, false],
    ["/nobody-made-it", 404, false],
    ["/nobody-made-it+", 404, false],
    ["/nobody/made/it", 404, false],
    ["/%FF", 404, false],
  ] as const;

  test.each(PAGES)("%s is guarded, well-formed, and answers HEAD alike", async (path, status, isPublic) => {
    for (const language of ["en", "ko"]) {
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
      const compared = (answer: Response) => ({
        ...Object.fromEntries(answer.headers),
        date: "",
        "content-length": "",
      });
      expect([head.status, compared(head)]).toEqual([status, compared(response)]);
      expect(head.headers.get("content-length")).toBe(String(Buffer.byteLength(text)));
    }
  });

  /** What a page refers to is there, once. */
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

  test("503 is guarded too", async () => {
    await using away = await startHere();
    await away.shorten({ original_url: LONG, custom_code: "away" });
    away.expectFaults();
    makeUnreadable(away.file);
    for (const path of ["/away", "/away+"]) {
      const response = await away.fetch(path, { headers: HTML });
      expect(response.status).toBe(503);
      expectGuarded(response);
      expect(response.headers.get("retry-after")).toBe("2");
      expect(await response.text()).toContain('<a class="button" href="">Try again</a>');
    }
    const form = new URLSearchParams({ original_url: LONG, custom_code: "typed", expire_duration: "1week" });
    const response = await away.fetch("/", { method: "POST", body: form });
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
    expectGuarded(response);
    const page = await response.text();
    expect(page).toContain(`<p class="error" role="alert">${en.unavailable}</p>`);
    // What was typed is still there.
    expect(page).toContain(`value="${LONG}"`);
    expect(page).toContain('value="typed"');
    expect(page).toContain('value="1week" checked=""');
  });

  test("a form that the store could not take is in the log", async () => {
    await using away = await startHere();
    away.expectFaults();
    makeUnreadable(away.file);
    const form = new URLSearchParams({ original_url: LONG, custom_code: "lost" });
    expect((await away.fetch("/", { method: "POST", body: form })).status).toBe(503);
    expect(away.logged.join("")).toContain("the store cannot answer");
  });

  test("a link that was shared with its language gives no cookie to who follows it", async () => {
    for (const [site, isKept] of [
      ["same-origin", true],
      ["cross-site", false],
      ["same-site", false],
      ["none", false],
    ] as const) {
      const response = await get("/taken+?language=ko", { "Sec-Fetch-Site": site });
      expect(response.headers.get("content-language")).toBe("ko");
      expect([site, response.headers.has("set-cookie")]).toEqual([site, isKept]);
    }
  });

  test("what went wrong by itself has a page that says so, and is in the log", async () => {
    await using broken = await startHere();
    await broken.shorten({ original_url: LONG, custom_code: "odd" });
    await visit(broken, "odd");
    await untilCounted(broken, "odd", 1);
    broken.expectFaults();
    {
      using database = new Database(broken.file);
      database.run("UPDATE visits SET detail = 'no JSON'");
    }
    const response = await broken.fetch("/odd+", { headers: HTML });
    expect(response.status).toBe(500);
    expectGuarded(response);
    expect(await response.text()).toContain(`<h1>${en["page.internal.title"]}</h1>`);
    expect(broken.logged.filter((line) => line.includes('"level":"error"'))).toHaveLength(1);
  });

  test("only who asks for a language is given a cookie, and only for one that there is", async () => {
    for (const path of ["/", "/taken+", "/ended", "/nobody"]) {
      const chosen = await get(`${path}?language=ko`);
      expect(chosen.headers.get("content-language")).toBe("ko");
      expect(chosen.headers.get("set-cookie")).toBe(
        "language=ko; Max-Age=31536000; Path=/; HttpOnly; SameSite=Lax",
      );
      for (const unknown of ["xx", "", "KO", "__proto__", "ko;x"]) {
        const response = await get(`${path}?language=${unknown}`, { "Accept-Language": "ko" });
        expect([response.headers.get("set-cookie"), response.headers.get("content-language")]).toEqual([
          null,
          "ko",
        ]);
      }
      const remembered = await get(path, { Cookie: "a=b; language=ko", "Accept-Language": "en" });
      expect(remembered.headers.get("content-language")).toBe("ko");
      const forged = await get(path, { Cookie: "language=xx", "Accept-Language": "ko" });
      expect(forged.headers.get("content-language")).toBe("ko");
    }
  });
});

test("a card in a chat says a host in ASCII too, where one script can imitate another", async () => {
  for (const [code, host, told] of [
    ["imitated", "аррӏе.example", "аррӏе.example (xn--80ak6aa92e.example)"],
    ["plain", "example.com", "example.com"],
  ] as const) {
    await curt.shorten({ original_url: `https://${host}/`, custom_code: code });
    const elements = await elementsOf(await get(`/${code}+`));
    const described = elements.filter(({ attributes: { name, property } }) =>
      ["description", "og:description"].includes(name ?? property ?? ""),
    );
    expect(described.map(({ attributes }) => attributes["content"])).toEqual([
      `Leads to: ${told}`,
      `Leads to: ${told}`,
    ]);
  }
});

test("of a link that has ended nobody waits for visits", async () => {
  expect(await (await get("/taken+")).text()).toContain(en["preview.waiting"]);
  expect(await (await get("/ended+")).text()).not.toContain(en["preview.waiting"]);
});

test("the form offers no link without an end where the operator gives none", async () => {
  await using short = await startHere({ DEFAULT_EXPIRY: "48h" });
  const elements = await elementsOf(await short.fetch("/", { headers: HTML }));
  const ends = elements.filter(({ attributes }) => attributes["name"] === "expire_duration");
  expect(ends.map(({ attributes: { value, checked } }) => [value, checked])).toEqual([
    ["24h", undefined],
    ["48h", ""],
    ["1week", undefined],
    ["1month", undefined],
  ]);
});

test("each link that has ended says when it did itself", async () => {
  await curt.shorten({ original_url: LONG, custom_code: "ended-too", expire_duration: "24h" });
  using database = new Database(curt.file);
  database.run("UPDATE links SET ends_ms = ? WHERE code = 'ended-too'", [Date.now() - 3_600_000]);
  const dates = await Promise.all(
    ["/ended", "/ended-too"].map(async (path) => {
      const elements = await elementsOf(await get(path));
      return elements.find(({ tag }) => tag === "time")?.attributes["datetime"];
    }),
  );
  expect(new Set(dates).size).toBe(2);
  expect(dates).not.toContain(undefined);
});

test("the days of a chart are dates, which no zone moves", async () => {
  await curt.shorten({ original_url: LONG, custom_code: "old" });
  using database = new Database(curt.file);
  database.run("UPDATE links SET created_ms = created_ms - 864000000 WHERE code = 'old'");
  // No chart without a visit.
  await visit(curt, "old");
  await untilCounted(curt, "old", 1);
  for (const zone of ["America/Los_Angeles", "Pacific/Kiritimati"]) {
    const { data } = (await (await curt.fetch(`/api/v1/links/old/stats?tz=${zone}`)).json()) as {
      data: { from: string; to: string };
    };
    const format = new Intl.DateTimeFormat("en", { month: "short", day: "numeric", timeZone: "UTC" });
    const [from, to] = [data.from, data.to].map((date) => format.format(new Date(date)));
    const page = await (await get(`/old+?tz=${zone}`)).text();
    expect(page).toContain(`<span>${from}</span><span>${to}</span>`);
  }
});

test("the hours of a chart end now", async () => {
  await curt.shorten({ original_url: LONG, custom_code: "young" });
  await visit(curt, "young");
  await untilCounted(curt, "young", 1);
  for (const zone of ["America/Los_Angeles", "Pacific/Kiritimati"]) {
    const format = new Intl.DateTimeFormat("en", {
      month: "short",
      day: "numeric",
      hour: "numeric",
      timeZone: zone,
    });
    const hours = [Date.now()];
    const page = await (await get(`/young+?tz=${zone}`)).text();
    hours.push(Date.now());
    const [, last = ""] = /<span>[^<]+<\/span><span>([^<]+)<\/span><\/p><figcaption/.exec(page) ?? [];
    expect(hours.map((ms) => format.format(ms))).toContain(last);
  }
});

test("a chart is drawn of visits in its range only, and what too few have in common is said once", async () => {
  await curt.shorten({ original_url: LONG, custom_code: "long-ago" });
  await visit(curt, "long-ago");
  await untilCounted(curt, "long-ago", 1);
  const fresh = await (await get("/long-ago+")).text();
  expect(fresh).toContain('<figure class="chart">');
  expect(fresh.split(en["preview.few"])).toHaveLength(2);
  expect(fresh).toContain('<div class="breakdowns"></div>');
  {
    using database = new Database(curt.file);
    database.run("UPDATE links SET created_ms = created_ms - 100 * 86400000 WHERE code = 'long-ago'");
    database.run(
      "UPDATE visits SET day = day - 100, created_ms = created_ms - 100 * 86400000 WHERE code = 'long-ago'",
    );
  }
  const old = await (await get("/long-ago+")).text();
  expect(old).toMatch(/data-visits="1"/);
  expect(old).not.toContain('<figure class="chart">');
  expect(old).not.toContain(en["preview.few"]);
  expect(old).not.toContain(en["preview.waiting"]);
});

test("a preview says that its link has ended, and offers no copy of it", async () => {
  const ended = await (await get("/ended+")).text();
  expect(ended).toContain(`<title>${en["preview.expired"]} curt.example/ended/ – Curt</title>`);
  expect(ended).toContain(`<p class="error">${en["preview.expired"]}</p>`);
  for (const dead of ["data-copy", "data-share", "/ended.svg", 'href="/ended/"']) {
    expect(ended).not.toContain(dead);
    expect(await (await get("/taken+")).text()).toContain(dead.replace("ended", "taken"));
  }
});

test("of many referrers a preview shows eight, and the others when they are opened", async () => {
  await using open = await startHere({ TRUSTED_PROXIES: "127.0.0.1" });
  await open.shorten({ original_url: LONG, custom_code: "many" });
  for (let nth = 0; nth < 50; nth++)
    await visit(open, "many", {
      Referer: `https://site-${nth % 10}.example/`,
      "X-Forwarded-For": `198.51.100.${nth}`,
    });
  await untilCounted(open, "many", 50);
  const page = await (await open.fetch("/many+", { headers: HTML })).text();
  const [first = "", opened = ""] = page.split('<details id="more-referrers">');
  const sites = [first, opened].map((part) => part.match(/site-\d\.example/g) ?? []);
  expect(sites.map(({ length }) => length)).toEqual([8, 2]);
  expect(new Set(sites.flat()).size).toBe(10);
  // Nothing of them is hidden.
  expect(page).not.toContain(`<bdi>${en["preview.other"]}</bdi>`);
});

test("a preview counts the hours of the zone that it is asked for, and of UTC for no zone", async () => {
  for (const [asked, zone] of [
    ["Asia/Seoul", "Asia/Seoul"],
    ["Asia/Nowhere", "UTC"],
    ["", "UTC"],
  ] as const) {
    const elements = await elementsOf(await get(`/taken+?tz=${asked}`));
    const { attributes } = elements.find((one) => one.attributes["id"] === "visits") as Element;
    expect(attributes["data-zone"]).toBe(zone);
  }
});

test("assets load nothing, and what has no hash in its address is kept for a day at most", async () => {
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

describe("for crawlers and finders", () => {
  test("robots.txt keeps them out of the API only", async () => {
    const response = await curt.fetch("/robots.txt");
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      "text/plain; charset=utf-8",
    ]);
    expect(await response.text()).toBe("User-agent: *\nDisallow: /api/\n");
  });

  test.each([
    ["abuse@curt.example", "mailto:abuse@curt.example"],
    ["https://curt.example.org/contact", "https://curt.example.org/contact"],
  ])("security.txt has what RFC 9116 asks for (%s)", async (contact, uri) => {
    await using named = await startHere({ CONTACT: contact });
    const response = await named.fetch("/.well-known/security.txt");
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      "text/plain; charset=utf-8",
    ]);
    const fields = new Map(
      (await response.text())
        .trimEnd()
        .split("\n")
        .map((line) => line.split(/: (.*)/) as [string, string]),
    );
    expect([...fields.keys()]).toEqual(["Contact", "Expires", "Preferred-Languages", "Canonical"]);
    expect(fields.get("Contact")).toBe(uri);
    expect(fields.get("Preferred-Languages")).toBe("en, ko");
    expect(fields.get("Canonical")).toBe(`${BASE_URL}/.well-known/security.txt`);
    // RFC 3339, and neither past nor more than a year away.
    const expires = fields.get("Expires") ?? "";
    expect(expires).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/);
    const days = (Date.parse(expires) - Date.now()) / 86_400_000;
    expect(days > 30 && days < 365).toBe(true);
  });

  test("security.txt is not there where no contact is named", async () => {
    await using nameless = await startHere();
    expect((await nameless.fetch("/.well-known/security.txt")).status).toBe(404);
  });

  test("each answers HEAD, and nothing else but GET", async () => {
    for (const path of ["/robots.txt", "/.well-known/security.txt", "/favicon.ico"]) {
      const body = await (await curt.fetch(path)).bytes();
      const head = await curt.fetch(path, { method: "HEAD" });
      expect([path, head.status, head.headers.get("content-length")]).toEqual([
        path,
        200,
        String(body.byteLength),
      ]);
      expect(head.headers.get("x-content-type-options")).toBe("nosniff");
      const other = await curt.fetch(path, { method: "POST", body: "x" });
      expect([other.status, other.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    }
  });
});

test("what is shared in capitals fills the form, and what is no UTF-8 does not", async () => {
  const filled = async (query: string) => {
    const elements = await elementsOf(await get(`/?${query}`));
    return elements.find(({ attributes }) => attributes["id"] === "original_url")?.attributes["value"];
  };
  expect(await filled("text=HTTPS://EXAMPLE.COM/A")).toBe("HTTPS://EXAMPLE.COM/A");
  expect(await filled("original_url=https://ko.example/%EA%B0%80")).toBe("https://ko.example/가");
  expect(await filled("original_url=https://ko.example/%B0%A1")).toBe("");
});

test("an address that would be refused again is not offered", async () => {
  for (const [written, offer] of [
    ["naver.com", "https://naver.com"],
    ["누리집.한국/길?q=1", "https://누리집.한국/길?q=1"],
    ["naver.com:8080", "https://naver.com:8080"],
    ["naver.com:99999", undefined],
    ["10.0.0.255", undefined],
    ["3.14", undefined],
    ["1.25%", undefined],
    [`naver.com/${'"'.repeat(8192)}`, undefined],
  ] as const) {
    const elements = await elementsOf(await post({ original_url: written }));
    const offered = elements.filter(({ attributes }) => attributes["name"] === "meant");
    expect([written, ...offered.map(({ attributes }) => attributes["value"])]).toEqual(
      offer === undefined ? [written] : [written, offer],
    );
  }
});

test("an end that there is none of is told beside the ends", async () => {
  const page = await (await post({ original_url: LONG, expire_duration: "2h" })).text();
  expect(page).toMatch(/<p class="error" id="expire_duration-error">[^<]+<\/p><\/div><\/fieldset>/);
  expect(page).not.toContain('role="alert"');
});

test("answers that depend on what is accepted say so", async () => {
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
  // A method is a program's mistake.
  expect(await vary("/", { method: "PUT", headers: HTML })).toEqual([405, json, "Accept, Accept-Language"]);
});

test("until a link is two days old its visits are told by the hour, of the last two days", async () => {
  await curt.shorten({ original_url: LONG, custom_code: "ageing" });
  await visit(curt, "ageing");
  await untilCounted(curt, "ageing", 1);
  const age = async (hours: number) => {
    using database = new Database(curt.file);
    for (const table of ["links", "visits"])
      database.run(`UPDATE ${table} SET created_ms = created_ms - ? WHERE code = 'ageing'`, [
        hours * 3_600_000,
      ]);
    return (await get("/ageing+")).text();
  };
  expect(await age(30)).toContain("<dt>Sum of daily visitors, last 2 days</dt>");
  expect(await age(17)).toContain("<dt>Sum of daily visitors, last 2 days</dt>");
  expect(await age(2)).toContain("<dt>Sum of daily visitors, last 30 days</dt>");
});

test("an address that is ASCII already is not told again, and what is left leaves no trace of us", async () => {
  await curt.shorten({ original_url: LONG, custom_code: "한글" });
  expect(await (await get("/taken+")).text()).not.toContain(en["preview.ascii"]);
  const page = await (await get(`/${encodeURIComponent("한글")}+`)).text();
  expect(page).toContain(en["preview.ascii"]);
  expect(page).toMatch(/<a class="button" href="\/%ED%95%9C%EA%B8%80\/" rel="nofollow noreferrer">/);
});
