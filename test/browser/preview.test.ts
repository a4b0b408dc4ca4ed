import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";

import type { Locator, Page } from "playwright-core";

import { DAY_MS, HOUR_MS } from "../../src/links/time.ts";
import { ask, make } from "../managed.ts";
import { type Running, startHere } from "../service.ts";
import { addVisits, linkOf, untilCounted, visit, WINDOWS_CHROME } from "../visits/visits.ts";
import { arrive, LAPTOP, PHONE, readers, stopTime, untilFocused, wordsOf } from "./browser.ts";

/** Longer than the page waits before it looks at its count again. */
const LOOK_MS = 5000;
const READERS = readers([
  { locale: "en-GB", viewport: LAPTOP },
  { locale: "ko-KR", viewport: PHONE },
]);

let curt: Running;
let destination: ReturnType<typeof Bun.serve>;
let arrived: { path: string; referrer: string | null }[] = [];
beforeAll(async () => {
  curt = await startHere({ POSTURE: "private", TRUSTED_PROXIES: "127.0.0.1" });
  destination = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const path = decodeURI(new URL(request.url).pathname);
      arrived.push({ path, referrer: request.headers.get("referer") });
      return new Response("arrived");
    },
  });
});
afterAll(async () => {
  await destination.stop(true);
  await curt[Symbol.asyncDispose]();
});
beforeEach(() => void (arrived = []));

async function preview(page: Page, code: string, original_url = "https://example.com/"): Promise<void> {
  expect((await curt.shorten({ original_url, custom_code: code })).status).toBe(201);
  await page.goto(`/${encodeURIComponent(code)}+`);
}

/** A value by what stands beside it. */
function fact(page: Page, term: string) {
  return page
    .locator(".facts > div, .lifetime > div")
    .filter({ has: page.getByText(term, { exact: true }) })
    .getByRole("definition");
}

/** The cells of a table's body. */
function rowsOf(table: Locator): Promise<string[][]> {
  return table
    .locator("tbody tr")
    .evaluateAll((rows: any[]) => rows.map((row) => Array.from(row.cells, (cell: any) => cell.textContent)));
}

describe.each(READERS)("a visitor who looks before ($locale)", ({ locale, viewport }) => {
  const say = wordsOf(locale);

  test("sees where a link leads, since when and until when, and goes there only by a click, counted once", async () => {
    // By its own name, this Chromium is a bot.
    await using visitor = await arrive(curt.origin, {
      locale,
      viewport,
      userAgent: WINDOWS_CHROME,
    });
    const { page } = visitor;
    const code = `목적지-${locale}`;
    await page.clock.install();
    await preview(page, code, `http://127.0.0.1:${destination.port}/여기?q=값`);
    await page.clock.runFor(10 * 60_000);
    expect(page.url()).toEndWith("+");
    expect(arrived).toEqual([]);
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(`curt.example/${code}`);
    const leads = page.getByRole("region", { name: say("preview.leads") });
    expect(await leads.textContent()).toContain(`http://127.0.0.1:${destination.port}/여기?q=값`);
    const made = fact(page, say("preview.created")).getByRole("time");
    expect(await made.getAttribute("datetime")).toBe(String((await linkOf(curt, code))["created_at"]));
    expect(await fact(page, say("preview.ends")).textContent()).toBe(say("home.endless"));
    await leads.getByRole("link", { name: say("preview.continue", { domain: "127.0.0.1" }) }).click();
    await page.waitForURL(`http://127.0.0.1:${destination.port}/**`);
    expect(arrived).toEqual([{ path: "/여기", referrer: null }]);
    await untilCounted(curt, code, 1);
  });

  test("reads hosts in their own script and in ASCII, and letters of the path, but nothing that could pretend", async () => {
    await using visitor = await arrive(curt.origin, { locale, viewport });
    const { page } = visitor;
    const long = "%ED%95%9C%EA%B5%AD%EC%96%B4";
    for (const [code, url, host, ascii, path] of [
      ["idn", `http://bücher.example/${long}`, "bücher.example", "xn--bcher-kva.example", "/한국어"],
      ["imitation", "https://аррӏе.com/", "xn--80ak6aa92e.com", undefined, "https://xn--80ak6aa92e.com/"],
    ] as const) {
      await preview(page, `${code}-${locale}`, url);
      const leads = page.getByRole("region", { name: say("preview.leads") });
      expect(await leads.locator(".host").textContent()).toBe(host);
      const inAscii = leads.getByText(say("preview.idn"));
      if (ascii === undefined) expect(await inAscii.count()).toBe(0);
      else expect(await inAscii.textContent()).toBe(`${say("preview.idn")} ${ascii}`);
      expect(await leads.textContent()).toContain(path);
      await leads
        .getByRole("link", { name: say("preview.continue", { domain: ascii ?? host }), exact: true })
        .waitFor();
      expect(await leads.getByText(say("preview.mistakable")).count()).toBe(code === "imitation" ? 1 : 0);
      expect(await leads.getByText(say("preview.letters", { name: "аррӏе.com" })).count()).toBe(
        code === "imitation" ? 1 : 0,
      );
    }
  });

  test("sees the visits move, as bars and as numbers, and the open table stays open", async () => {
    await using maker = await arrive(curt.origin, { locale, viewport, timezoneId: "Asia/Seoul" });
    const { page } = maker;
    const code = `세기-${locale}`;
    await page.clock.install();
    await preview(page, code);
    const visits = page.getByRole("status").filter({ visible: true, hasText: /\d/ });
    expect(await visits.textContent()).toBe("0");
    const summary = page.getByText(say("preview.table"));
    expect(await summary.count()).toBe(0);
    const table = page.getByRole("table").filter({
      has: page.getByRole("columnheader", { name: say("preview.hour"), exact: true }),
    });
    for (const count of [1, 2, 3]) {
      await visit(curt, code);
      await untilCounted(curt, code, count);
      await page.clock.runFor(LOOK_MS);
      await visits.filter({ hasText: String(count) }).waitFor();
      if (count === 1) await summary.click();
      // The chart and the table follow in a while. More than one row where an hour has just begun.
      let rows: { hour: string; visits: number }[];
      do {
        await page.clock.runFor(LOOK_MS);
        rows = (await rowsOf(table)).map(([hour = "", visited]) => ({ hour, visits: Number(visited) }));
      } while (rows.reduce((sum, row) => sum + row.visits, 0) < count);
      const name = new RegExp(`^${RegExp.escape(say("preview.chart.hour", { period: "" }))}.+$`);
      const bars = await page.getByRole("img", { name }).locator("title").allTextContents();
      const told = ({ hour, visits: visited }: { hour: string; visits: number }) =>
        say("preview.point", { when: hour, visits: say("preview.count.visits", { count: visited }) });
      const drawn = bars.filter((bar) => rows.some(({ hour }) => bar.startsWith(`${hour}: `)));
      expect(drawn).toEqual(rows.map(told));
    }
    expect(await page.getByRole("status", { name: say("preview.all-visits") }).textContent()).toBe("3");
  });

  test("reads who came and with what", async () => {
    const settings = { STATS_SHOWN: "all", TRUSTED_PROXIES: "127.0.0.1" };
    // No hour ends between two visits.
    await using open = await startHere(settings, { startMs: Math.floor(Date.now() / DAY_MS) * DAY_MS });
    await using maker = await arrive(open.origin, { locale, viewport });
    const { page } = maker;
    const code = `누구-${locale}`;
    await open.shorten({ original_url: "https://example.com/", custom_code: code });
    // People last: what was counted before them is there when they are.
    await visit(open, code, { "User-Agent": "Googlebot/2.1 (+http://www.google.com/bot.html)" });
    for (let nth = 0; nth < 6; nth++) {
      await visit(open, code, {
        "X-Forwarded-For": `168.126.${60 + nth}.1`,
        Referer: nth < 5 ? "https://search.naver.com/search?q=curt" : "https://rare.example/",
      });
    }
    await untilCounted(open, code, 6);
    open.advance(HOUR_MS);
    await page.goto(`/${encodeURIComponent(code)}+`);
    const korea = locale === "ko-KR" ? "대한민국" : "South Korea";
    for (const [dimension, rows] of [
      [
        "preview.referrers",
        [
          ["search.naver.com", "5", "83%"],
          ["rare.example", "1", "17%"],
        ],
      ],
      ["preview.countries", [[korea, "6", "100%"]]],
      ["preview.browsers", [["Chrome", "6", "100%"]]],
      ["preview.devices", [[say("device.desktop"), "6", "100%"]]],
    ] as const) {
      const table = page.getByRole("table").filter({
        has: page.getByRole("columnheader", { name: say(dimension), exact: true }),
      });
      expect(await rowsOf(table)).toEqual(rows.map((row) => [...row]));
    }
    expect(await fact(page, say("preview.bots")).textContent()).toBe("1");
  });

  test("reads that a link has ended, and is not led on", async () => {
    await using past = await startHere({}, { startMs: Date.now() - 2 * DAY_MS });
    await using visitor = await arrive(past.origin, { locale, viewport });
    const { page } = visitor;
    const code = `끝-${locale}`;
    await past.shorten({ original_url: "https://example.com/", custom_code: code, expire_duration: "24h" });
    past.advance(2 * DAY_MS);
    const response = await page.goto(`/${encodeURIComponent(code)}+`);
    expect(response?.status()).toBe(200);
    await page
      .getByRole("region", { name: say("preview.led") })
      .getByText("example.com", { exact: true })
      .waitFor();
    await fact(page, say("preview.ended")).getByRole("time").waitFor();
    expect(
      await page.getByRole("link", { name: say("preview.continue", { domain: "example.com" }) }).count(),
    ).toBe(0);
    expect(await page.getByRole("img", { name: /QR/ }).count()).toBe(0);
  });
});

test("a + behind the address leads to the preview, however it is written", async () => {
  await curt.shorten({ original_url: "https://example.com/", custom_code: "더하기" });
  for (const behind of ["+", "%2B", "%2b", "+/", "/+", "/%2B", "/+/"]) {
    const response = await curt.fetch(`/더하기${behind}`, { redirect: "follow" });
    const isPreview = (await response.text()).includes("curt.example/<wbr/><mark><bdi>더하기");
    expect([behind, response.status, response.headers.get("x-robots-tag"), isPreview]).toEqual([
      behind,
      200,
      "noindex",
      true,
    ]);
  }
});

test("a code with a heap of marks lies over nothing", async () => {
  await using visitor = await arrive(curt.origin, { viewport: PHONE });
  const { page } = visitor;
  await preview(page, `a${"\u0300\u0323\u0489".repeat(20)}`, "https://example.com/");
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  expect(await page.evaluate("getComputedStyle(document.querySelector('h1')).overflow")).toBe("clip");
});

test("opened values stay open, and the focus stays where it was, while visits come in", async () => {
  await using maker = await arrive(curt.origin);
  const { page } = maker;
  const say = wordsOf("en");
  const code = "offen";
  await page.clock.install();
  await curt.shorten({ original_url: "https://example.com/", custom_code: code });
  const browsers = Array.from({ length: 9 }, (_, nth) => `Browser ${nth}`);
  const visits = browsers.flatMap((browser, nth) =>
    Array.from({ length: 20 - nth }, (_, visitor) => ({ browser, visitor })),
  );
  await addVisits(curt, code, visits);
  await page.goto(`/${code}+`);
  await page.getByText(say("preview.live")).waitFor();
  const more = page.getByText(say("preview.more", { count: 1 }));
  await more.press("Enter");
  await visit(curt, code);
  await untilCounted(curt, code, 145);
  const added = page.getByRole("row", { name: "Chrome 1" }).first();
  do await page.clock.runFor(LOOK_MS);
  while ((await added.count()) === 0);
  expect(await page.getByRole("row", { name: "Browser 8 12" }).isVisible()).toBe(true);
  await untilFocused(page.getByText(say("preview.more", { count: 2 })));
});

test("a language that another tab chooses does not get into this one", async () => {
  // In another zone, the page would be read at once.
  await using maker = await arrive(curt.origin, { timezoneId: "UTC" });
  const { page, context } = maker;
  const say = wordsOf("en");
  await page.clock.install();
  await preview(page, "두-탭", "https://example.com/");
  await context.addCookies([{ name: "language", value: "ko", url: curt.origin }]);
  const read = page.waitForResponse((response) => response.url().includes("?tz="));
  await visit(curt, "두-탭");
  await untilCounted(curt, "두-탭", 1);
  await page.clock.runFor(LOOK_MS);
  expect((await read).headers()["content-language"]).toBe("ko");
  await page
    .getByRole("status", { name: say("preview.all-visits") })
    .filter({ hasText: "1" })
    .waitFor();
  await page.clock.runFor(LOOK_MS);
  const text = await page.getByRole("region", { name: say("preview.visits.title") }).textContent();
  expect(text).not.toMatch(/\p{Script=Hangul}/u);
});

test("while nobody looks, nothing is asked", async () => {
  await using maker = await arrive(curt.origin);
  const { page } = maker;
  await page.addInitScript(
    "Object.defineProperty(document, 'hidden', { get: () => globalThis.isAway === true })",
  );
  await stopTime(page);
  const asked: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/api/v1/links/")) asked.push(request.url());
  });
  await preview(page, "allein", "https://example.com/");
  await page.evaluate("globalThis.isAway = true");
  const before = asked.length;
  await page.clock.runFor(10 * 60_000);
  expect(asked.length).toBe(before);
  await page.evaluate("globalThis.isAway = false");
  const again = page.waitForRequest("**/api/v1/links/allein");
  await page.clock.runFor(10 * 60_000);
  await again;
});

test("whoever is looking at a preview learns that the link leads elsewhere, or nowhere, by now", async () => {
  await using visitor = await arrive(curt.origin);
  const { page } = visitor;
  await stopTime(page);
  const { code, path, key } = await make(curt, { target: "https://example.com/" });
  const looked: string[] = [];
  page.on("response", (response) => void (response.url().endsWith(path) && looked.push(response.url())));
  const untilLooked = async () => {
    looked.length = 0;
    while (looked.length === 0) await page.clock.runFor(LOOK_MS);
  };
  const untilShown = async (element: Locator) => {
    while (!(await element.isVisible())) await page.clock.runFor(LOOK_MS);
  };
  await page.goto(`/${code}+`);
  await untilLooked();
  const host = page.locator(".leads .host");
  expect(await host.textContent()).toBe("example.com");
  await ask(curt, "PATCH", path, { key, body: { target: "https://example.net/" } });
  await untilShown(host.filter({ hasText: "example.net" }));
  await untilLooked();
  await ask(curt, "DELETE", path, { key });
  await untilShown(page.getByText(wordsOf("en")("page.expired.title.withdrawn")).first());
});

test("a change before the first look is noticed, too", async () => {
  await using visitor = await arrive(curt.origin);
  const { page } = visitor;
  await stopTime(page);
  const { code, path, key } = await make(curt, { target: "https://example.com/" });
  await page.goto(`/${code}+`);
  await ask(curt, "PATCH", path, { key, body: { target: "https://example.net/" } });
  await page.clock.runFor(LOOK_MS);
  const host = page.locator(".leads .host");
  await host.filter({ hasText: "example.net" }).waitFor();
  // It is noticed once. The page that was opened for it comes to its end first.
  await page.waitForLoadState();
  const opened: string[] = [];
  page.on("load", () => void opened.push(page.url()));
  const looked = page.waitForResponse((response) => response.url().endsWith(path));
  await page.clock.runFor(LOOK_MS);
  await looked;
  await page.clock.runFor(LOOK_MS);
  expect(opened).toEqual([]);
});

test("the visits of another link that has its code by now are not shown", async () => {
  await using maker = await arrive(curt.origin);
  const { page } = maker;
  await stopTime(page);
  await preview(page, "vergeben", "https://example.com/");
  const visits = page.getByRole("status").filter({ visible: true, hasText: /\d/ });
  const data = { ...(await linkOf(curt, "vergeben")), created_at: "2026-01-01T00:00:00.000Z", visits: 99 };
  await page.route("**/api/v1/links/vergeben", (route) =>
    route.fulfill({ json: { status: "success", data } }),
  );
  const asked = page.waitForResponse("**/api/v1/links/vergeben");
  await page.clock.runFor(LOOK_MS);
  await asked;
  await page.clock.runFor(LOOK_MS);
  expect(await visits.textContent()).toBe("0");
});

test("a page asks as seldom as the service wants it to", async () => {
  await using maker = await arrive(curt.origin);
  const { page } = maker;
  await stopTime(page);
  let asked = 0;
  await page.route("**/api/v1/links/beliebt", async (route) => {
    asked++;
    const response = await route.fetch();
    await route.fulfill({ response, headers: { ...response.headers(), "x-poll-interval": "60" } });
  });
  await preview(page, "beliebt", "https://example.com/");
  const first = page.waitForResponse("**/api/v1/links/beliebt");
  await page.clock.runFor(LOOK_MS);
  await (await first).finished();
  // A request that is under way would be seen by then.
  await page.clock.runFor(50_000);
  expect(asked).toBe(1);
  const second = page.waitForResponse("**/api/v1/links/beliebt");
  await page.clock.runFor(60_000);
  await second;
});
