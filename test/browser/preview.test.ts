import { beforeEach, describe, expect, test } from "bun:test";

import type { Locator, Page } from "playwright-core";

import { DAY_MS, HOUR_MS } from "../../src/links/time.ts";
import { callApi, createManagedLink } from "../support/managed-links.ts";
import { startService, shareService } from "../support/service.ts";
import { addVisits, linkOf, untilCounted, visit, WINDOWS_CHROME } from "../visits/visits.ts";
import { openPage, LAPTOP, PHONE, readers, stopTime, untilFocused, wordsOf } from "./browser.ts";
import { shareDestination } from "./destination-site.ts";

/** Longer than the page waits between two polls of its count. */
const POLL_MS = 5000;
const READERS = readers([
  { locale: "en-GB", viewport: LAPTOP },
  { locale: "ko-KR", viewport: PHONE },
]);

const curt = shareService({ POSTURE: "private", TRUSTED_PROXIES: "127.0.0.1" });
const destination = shareDestination();
const { arrivals } = destination;
beforeEach(() => void (arrivals.length = 0));

async function preview(page: Page, code: string, original_url = "https://example.com/"): Promise<void> {
  expect((await curt.shorten({ original_url, custom_code: code })).status).toBe(201);
  await page.goto(`/${encodeURIComponent(code)}+`);
}

/** A value by the term beside it. */
function fact(page: Page, term: string) {
  return page
    .locator(".rows > div, .sums > div")
    .filter({ has: page.getByText(term, { exact: true }) })
    .getByRole("definition");
}

/** The cells of a table's body. */
function rowsOf(table: Locator): Promise<string[][]> {
  return table
    .locator("tbody tr")
    .evaluateAll((rows: any[]) => rows.map((row) => Array.from(row.cells, (cell: any) => cell.textContent)));
}

describe.each(READERS)("a preview ($locale)", ({ locale, viewport }) => {
  const say = wordsOf(locale);

  test("shows destination, creation and end, and redirects only on a click, which counts once", async () => {
    // By its own name, this Chromium is a bot.
    await using page = await openPage(curt.origin, {
      locale,
      viewport,
      userAgent: WINDOWS_CHROME,
    });
    const code = `목적지-${locale}`;
    await page.clock.install();
    await preview(page, code, `http://127.0.0.1:${destination.port}/여기?q=값`);
    await page.clock.runFor(10 * 60_000);
    expect(page.url()).toEndWith("+");
    expect(arrivals).toEqual([]);
    expect(await page.locator(".address").textContent()).toBe(`curt.example/${code}`);
    const region = page.getByRole("region", { name: say("preview.leads") });
    expect(await region.textContent()).toContain(`http://127.0.0.1:${destination.port}/여기?q=값`);
    const creation = fact(page, say("preview.created")).getByRole("time");
    expect(await creation.getAttribute("datetime")).toBe(String((await linkOf(curt, code))["created_at"]));
    expect(await fact(page, say("preview.ends")).textContent()).toBe(say("never"));
    await region.getByRole("link", { name: say("preview.continue", { domain: "127.0.0.1" }) }).click();
    await page.waitForURL(`http://127.0.0.1:${destination.port}/**`);
    expect(arrivals).toEqual([{ method: "GET", path: "/여기", referrer: null }]);
    await untilCounted(curt, code, 1);
  });

  test("shows hosts and paths in their own script, but a host that imitates another in ASCII", async () => {
    await using page = await openPage(curt.origin, { locale, viewport });
    const long = "%ED%95%9C%EA%B5%AD%EC%96%B4";
    for (const [code, url, host, ascii, path] of [
      ["idn", `http://bücher.example/${long}`, "bücher.example", "xn--bcher-kva.example", "/한국어"],
      ["imitation", "https://аррӏе.com/", "xn--80ak6aa92e.com", undefined, "https://xn--80ak6aa92e.com/"],
    ] as const) {
      await preview(page, `${code}-${locale}`, url);
      const region = page.getByRole("region", { name: say("preview.leads") });
      expect(await region.locator(".host").textContent()).toBe(host);
      const inAscii = region.getByText(say("preview.idn"));
      if (ascii === undefined) expect(await inAscii.count()).toBe(0);
      else expect(await inAscii.textContent()).toBe(`${say("preview.idn")} ${ascii}`);
      expect(await region.textContent()).toContain(path);
      await region
        .getByRole("link", { name: say("preview.continue", { domain: ascii ?? host }), exact: true })
        .waitFor();
      expect(await region.getByText(say("preview.mistakable")).count()).toBe(code === "imitation" ? 1 : 0);
      expect(await region.getByText(say("preview.letters", { name: "аррӏе.com" })).count()).toBe(
        code === "imitation" ? 1 : 0,
      );
    }
  });

  test("updates the count, the chart and an opened table as visits arrive", async () => {
    await using page = await openPage(curt.origin, { locale, viewport, timezoneId: "Asia/Seoul" });
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
      await page.clock.runFor(POLL_MS);
      await visits.filter({ hasText: String(count) }).waitFor();
      if (count === 1) await summary.click();
      // The chart and the table follow later. There are two rows if an hour has just started.
      let rows: { hour: string; visits: number }[];
      do {
        await page.clock.runFor(POLL_MS);
        rows = (await rowsOf(table)).map(([hour = "", visited]) => ({ hour, visits: Number(visited) }));
      } while (rows.reduce((sum, row) => sum + row.visits, 0) < count);
      const name = new RegExp(`^${RegExp.escape(say("preview.chart.hour", { period: "" }))}.+$`);
      const bars = await page.getByRole("img", { name }).locator("title").allTextContents();
      const pointText = ({ hour, visits: visited }: { hour: string; visits: number }) =>
        say("preview.point", { when: hour, visits: say("preview.count.visits", { count: visited }) });
      const drawn = bars.filter((bar) => rows.some(({ hour }) => bar.startsWith(`${hour}: `)));
      expect(drawn).toEqual(rows.map(pointText));
    }
    expect(await page.getByRole("status", { name: say("preview.all-visits") }).textContent()).toBe("3");
  });

  test("shows referrers, countries, browsers, devices and the number of bots", async () => {
    const settings = { STATS_SHOWN: "all", TRUSTED_PROXIES: "127.0.0.1" };
    // No hour ends between two visits.
    await using open = await startService(settings, { startMs: Math.floor(Date.now() / DAY_MS) * DAY_MS });
    await using page = await openPage(open.origin, { locale, viewport });
    const code = `누구-${locale}`;
    await open.shorten({ original_url: "https://example.com/", custom_code: code });
    // People last, so that the bot is counted once they are.
    await visit(open, code, { "User-Agent": "Googlebot/2.1 (+http://www.google.com/bot.html)" });
    for (let nth = 0; nth < 12; nth++) {
      await visit(open, code, {
        "X-Forwarded-For": `168.126.${60 + nth}.1`,
        Referer: nth < 10 ? "https://search.naver.com/search?q=curt" : "https://rare.example/",
      });
    }
    await untilCounted(open, code, 12);
    open.advance(HOUR_MS);
    await page.goto(`/${encodeURIComponent(code)}+`);
    const korea = locale === "ko-KR" ? "대한민국" : "South Korea";
    for (const [dimension, rows] of [
      [
        "preview.referrers",
        [
          ["search.naver.com", "10", "83%"],
          ["rare.example", "2", "17%"],
        ],
      ],
      ["preview.countries", [[korea, "12", "100%"]]],
      ["preview.browsers", [["Chrome", "12", "100%"]]],
      ["preview.devices", [[say("device.desktop"), "12", "100%"]]],
    ] as const) {
      await page.getByRole("radio", { name: say(dimension) }).check();
      const table = page.getByRole("table").filter({
        has: page.getByRole("columnheader", { name: say(dimension), exact: true }),
      });
      expect(await rowsOf(table)).toEqual(rows.map((row) => [...row]));
    }
    expect(await fact(page, say("preview.bots")).textContent()).toBe("1");
  });

  test("shows the former destination and the end of an expired link, without a link or a QR code", async () => {
    await using past = await startService({}, { startMs: Date.now() - 2 * DAY_MS });
    await using page = await openPage(past.origin, { locale, viewport });
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

test("a + behind the address opens the preview in every spelling", async () => {
  await curt.shorten({ original_url: "https://example.com/", custom_code: "더하기" });
  for (const behind of ["+", "%2B", "%2b", "+/", "/+", "/%2B", "/+/"]) {
    const response = await curt.fetch(`/더하기${behind}`, { redirect: "follow" });
    const isPreview = (await response.text()).includes("curt.example/</span><wbr/><mark><bdi>더하기");
    expect([response.status, response.headers.get("x-robots-tag"), isPreview], behind).toEqual([
      200,
      "noindex",
      true,
    ]);
  }
});

test("a code with stacked marks overlaps nothing", async () => {
  await using page = await openPage(curt.origin, { viewport: PHONE });
  await preview(page, `a${"\u0300\u0323\u0489".repeat(20)}`, "https://example.com/");
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  expect(await page.evaluate("getComputedStyle(document.querySelector('.address')).overflow")).toBe("clip");
});

test("an opened list stays open and focused, in its tab, while visits arrive", async () => {
  await using page = await openPage(curt.origin);
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
  await page.getByRole("radio", { name: say("preview.browsers") }).check();
  const more = page.getByText(say("preview.more", { count: 1 }));
  await more.press("Enter");
  await visit(curt, code);
  await untilCounted(curt, code, 145);
  const added = page.getByRole("row", { name: "Chrome 1" }).first();
  do await page.clock.runFor(POLL_MS);
  while ((await added.count()) === 0);
  expect(await page.getByRole("row", { name: "Browser 8 12" }).isVisible()).toBe(true);
  await untilFocused(page.getByText(say("preview.more", { count: 2 })));
});

test("a language chosen in another tab doesn't change an open preview", async () => {
  // In another zone, the script would read the page immediately.
  await using page = await openPage(curt.origin, { timezoneId: "UTC" });
  const say = wordsOf("en");
  await page.clock.install();
  await preview(page, "두-탭", "https://example.com/");
  await page.context().addCookies([{ name: "language", value: "ko", url: curt.origin }]);
  const read = page.waitForResponse((response) => response.url().includes("?tz="));
  await visit(curt, "두-탭");
  await untilCounted(curt, "두-탭", 1);
  await page.clock.runFor(POLL_MS);
  expect((await read).headers()["content-language"]).toBe("ko");
  await page
    .getByRole("status", { name: say("preview.all-visits") })
    .filter({ hasText: "1" })
    .waitFor();
  await page.clock.runFor(POLL_MS);
  const text = await page.getByRole("region", { name: say("preview.visits.title") }).textContent();
  expect(text).not.toMatch(/\p{Script=Hangul}/u);
});

test("a hidden preview sends no requests until it is visible again", async () => {
  await using page = await openPage(curt.origin);
  await page.addInitScript(
    "Object.defineProperty(document, 'hidden', { get: () => globalThis.isAway === true })",
  );
  await stopTime(page);
  const requests: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/api/v1/links/")) requests.push(request.url());
  });
  await preview(page, "allein", "https://example.com/");
  await page.evaluate("globalThis.isAway = true");
  const before = requests.length;
  await page.clock.runFor(10 * 60_000);
  expect(requests.length).toBe(before);
  await page.evaluate("globalThis.isAway = false");
  const next = page.waitForRequest("**/api/v1/links/allein");
  await page.clock.runFor(10 * 60_000);
  await next;
});

test("an open preview shows a changed destination, and later that the link was withdrawn", async () => {
  await using page = await openPage(curt.origin);
  await stopTime(page);
  const { code, path, key } = await createManagedLink(curt, { target: "https://example.com/" });
  const polls: string[] = [];
  page.on("response", (response) => void (response.url().endsWith(path) && polls.push(response.url())));
  const untilPolled = async () => {
    polls.length = 0;
    while (polls.length === 0) await page.clock.runFor(POLL_MS);
  };
  const untilShown = async (element: Locator) => {
    while (!(await element.isVisible())) await page.clock.runFor(POLL_MS);
  };
  await page.goto(`/${code}+`);
  await untilPolled();
  const host = page.locator(".leads .host");
  expect(await host.textContent()).toBe("example.com");
  await callApi(curt, "PATCH", path, { key, body: { target: "https://example.net/" } });
  await untilShown(host.filter({ hasText: "example.net" }));
  await untilPolled();
  await callApi(curt, "DELETE", path, { key });
  await untilShown(page.getByText(wordsOf("en")("page.expired.title.withdrawn")).first());
});

test("an open preview notices a change made before its first poll, and reloads once", async () => {
  await using page = await openPage(curt.origin);
  await stopTime(page);
  const { code, path, key } = await createManagedLink(curt, { target: "https://example.com/" });
  await page.goto(`/${code}+`);
  await callApi(curt, "PATCH", path, { key, body: { target: "https://example.net/" } });
  await page.clock.runFor(POLL_MS);
  const host = page.locator(".leads .host");
  await host.filter({ hasText: "example.net" }).waitFor();
  // Once only. The reload for it finishes first.
  await page.waitForLoadState();
  const opened: string[] = [];
  page.on("load", () => void opened.push(page.url()));
  const polls = page.waitForResponse((response) => response.url().endsWith(path));
  await page.clock.runFor(POLL_MS);
  await polls;
  await page.clock.runFor(POLL_MS);
  expect(opened).toEqual([]);
});

test("an open preview shows a new end of the link", async () => {
  await using page = await openPage(curt.origin);
  await stopTime(page);
  const { code, path, key } = await createManagedLink(curt, { expires_at: "1month" });
  await page.goto(`/${code}+`);
  const { data } = await callApi(curt, "PATCH", path, { key, body: { expires_at: "48h" } });
  await page.clock.runFor(POLL_MS);
  await page.locator(`time[datetime="${data["expires_at"]}"]`).first().waitFor();
});

test("an open preview doesn't show the visits of another link that has reused the code", async () => {
  await using page = await openPage(curt.origin);
  await stopTime(page);
  await preview(page, "vergeben", "https://example.com/");
  const visits = page.getByRole("status").filter({ visible: true, hasText: /\d/ });
  const data = { ...(await linkOf(curt, "vergeben")), created_at: "2026-01-01T00:00:00.000Z", visits: 99 };
  await page.route("**/api/v1/links/vergeben", (route) =>
    route.fulfill({ json: { status: "success", data } }),
  );
  const polled = page.waitForResponse("**/api/v1/links/vergeben");
  await page.clock.runFor(POLL_MS);
  await polled;
  await page.clock.runFor(POLL_MS);
  expect(await visits.textContent()).toBe("0");
});

test("a preview polls no more often than X-Poll-Interval allows", async () => {
  await using page = await openPage(curt.origin);
  await stopTime(page);
  let requests = 0;
  await page.route("**/api/v1/links/beliebt", async (route) => {
    requests++;
    const response = await route.fetch();
    await route.fulfill({ response, headers: { ...response.headers(), "x-poll-interval": "60" } });
  });
  await preview(page, "beliebt", "https://example.com/");
  const first = page.waitForResponse("**/api/v1/links/beliebt");
  await page.clock.runFor(POLL_MS);
  await (await first).finished();
  // A request in flight would be seen by then.
  await page.clock.runFor(50_000);
  expect(requests).toBe(1);
  const second = page.waitForResponse("**/api/v1/links/beliebt");
  await page.clock.runFor(60_000);
  await second;
});
