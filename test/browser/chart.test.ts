import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { Locator, Page } from "playwright-core";

import { DAY_MS, HOUR_MS } from "../../src/links/time.ts";
import { type LocalService, startService } from "../support/service.ts";
import { addVisits, untilCounted, visit } from "../visits/visits.ts";
import { loadAxe, violationsOf } from "./axe.ts";
import { chooseLanguage, openPage, LAPTOP, PHONE, readers, untilFocused, wordsOf } from "./browser.ts";
import { faultsOf } from "./layout.ts";

const AGE_DAYS = 200;
/** Longer than the page waits between two polls of its count. */
const POLL_MS = 5000;
const UTC = { timezoneId: "UTC" };
const say = wordsOf("en");

let curt: LocalService;
/** Tests that need another reader open their own page. */
let laptop: Page & AsyncDisposable;
beforeAll(async () => {
  const startMs = Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2 - AGE_DAYS * DAY_MS;
  curt = await startService({ STATS_SHOWN: "all" }, { startMs });
  await createLink("alt");
  await createLink("still");
  curt.advance((AGE_DAYS - 3) * DAY_MS);
  await createLink("jung");
  curt.advance(3 * DAY_MS);
  await createLink("neu");
  for (const [days, count] of [
    [100, 120],
    [20, 3],
    [5, 8],
    [1, 5],
    [0, 1],
  ] as const)
    await add("alt", count, curt.nowMs() - days * DAY_MS);
  await add("jung", 2, curt.nowMs() - 2 * DAY_MS);
  laptop = await openPage(curt.origin, { ...UTC, viewport: LAPTOP });
});
afterAll(async () => {
  await laptop[Symbol.asyncDispose]();
  await curt[Symbol.asyncDispose]();
});

async function createLink(custom_code: string): Promise<void> {
  const response = await curt.shorten({ original_url: "https://example.com/", custom_code });
  expect(response.status).toBe(201);
}

function add(code: string, count: number, atMs: number): Promise<void> {
  return addVisits(
    curt,
    code,
    Array.from({ length: count }, (_, visitor) => ({ visitor })),
    atMs,
  );
}

/** A day as the chart names it. */
function dayBefore(days: number, locale = "en"): string {
  const format = new Intl.DateTimeFormat(locale, {
    month: "short",
    day: "numeric",
    weekday: "short",
    timeZone: "UTC",
  });
  return format.format(curt.nowMs() - days * DAY_MS);
}

function pointText(days: number, visits: number): string {
  return say("preview.point", {
    when: dayBefore(days),
    visits: say("preview.count.visits", { count: visits }),
  });
}

/** The value that the chart shows at the moment. */
function reading(page: Page, text: string): Locator {
  return page.locator(".reading", { hasText: text });
}

function slider(page: Page): Locator {
  return page.getByRole("slider");
}

/** All points of the chart, in words. */
function pointsOf(page: Page): Promise<string[]> {
  return page.locator(".bars title").allTextContents();
}

function range(page: Page, name: "24h" | "7d" | "30d" | "90d" | "all"): Locator {
  return page
    .getByRole("navigation", { name: say("preview.range") })
    .getByRole("link", { name: say(`preview.range.${name}`), exact: true });
}

function by(page: Page, interval: "hour" | "day" | "month"): Locator {
  return page
    .getByRole("navigation", { name: say("preview.by") })
    .getByRole("link", { name: say(`preview.by.${interval}`), exact: true });
}

/** Where the middle of a bar is; of `days` before today, in a chart of 30 days. */
async function placeOf(page: Page, days: number): Promise<{ x: number; y: number }> {
  const bars = page.locator(".bars");
  await bars.scrollIntoViewIfNeeded();
  const { x, y, width, height } = (await bars.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  return { x: x + ((29.5 - days) / 30) * width, y: y + height / 4 };
}

describe("a chart", () => {
  test("has a scale of round numbers, and its bars match the scale", async () => {
    await laptop.goto("/alt+");
    expect(await laptop.locator(".scale span").allTextContents()).toEqual(["8", "6", "4", "2", "0"]);
    const heights = await laptop
      .locator(".bars rect:not([class])")
      .evaluateAll((bars: any[]) =>
        bars.map((bar) => bar.getBoundingClientRect().height / bar.ownerSVGElement.clientHeight),
      );
    expect(heights.map((height) => Math.round(height * 100) / 100)).toEqual([0.38, 1, 0.63]);
    // Each number stands at the height of its line.
    const middles = (parts: Locator) =>
      parts.evaluateAll((all: any[]) =>
        all.map((one) => (one.getBoundingClientRect().top + one.getBoundingClientRect().bottom) / 2),
      );
    const [numbers, lines] = [
      await middles(laptop.locator(".scale span")),
      await middles(laptop.locator(".bars line")),
    ];
    for (const [nth, line] of lines.entries()) expect(Math.abs((numbers[nth] ?? 0) - line)).toBeLessThan(2);
  });

  test("shows the value under the mouse until the mouse leaves", async () => {
    await laptop.goto("/alt+");
    await slider(laptop).waitFor();
    const caption = laptop.locator(".chart figcaption span").first();
    for (const [days, visits] of [
      [5, 8],
      [1, 5],
      [3, 0],
      [29, 0],
    ] as const) {
      const { x, y } = await placeOf(laptop, days);
      await laptop.mouse.move(x, y);
      await reading(laptop, pointText(days, visits)).waitFor();
      expect(await caption.isVisible()).toBe(false);
    }
    const before = await laptop.locator(".bars").boundingBox();
    await laptop.mouse.move(0, 0);
    await caption.waitFor();
    expect(await laptop.locator(".at").isVisible()).toBe(false);
    // Showing and hiding the value moves nothing.
    expect(await laptop.locator(".bars").boundingBox()).toEqual(before);
  });

  test("is one tab stop, whose arrow keys move from day to day and announce each value", async () => {
    const { keyboard } = laptop;
    await laptop.goto("/alt+");
    await slider(laptop).waitFor();
    await range(laptop, "all").focus();
    await keyboard.press("Tab");
    await untilFocused(slider(laptop));
    for (const [key, days, visits] of [
      ["ArrowLeft", 1, 5],
      ["ArrowLeft", 2, 0],
      ["ArrowRight", 1, 5],
      ["Home", 29, 0],
      ["End", 0, 1],
      ["ArrowRight", 0, 1],
    ] as const) {
      await keyboard.press(key);
      await reading(laptop, pointText(days, visits)).waitFor();
      expect(await slider(laptop).getAttribute("aria-valuetext")).toBe(pointText(days, visits));
    }
    await keyboard.press("Tab");
    await untilFocused(laptop.getByText(say("preview.table")));
    await laptop.locator(".chart figcaption span").first().waitFor();
  });

  test("keeps showing the value that was tapped", async () => {
    await using page = await openPage(curt.origin, {
      ...UTC,
      viewport: PHONE,
      hasTouch: true,
      isMobile: true,
    });
    await page.goto("/alt+");
    await slider(page).waitFor();
    const { x, y } = await placeOf(page, 5);
    await page.touchscreen.tap(x, y);
    await reading(page, pointText(5, 8)).waitFor();
    const { x: later } = await placeOf(page, 1);
    await page.touchscreen.tap(later, y);
    await reading(page, pointText(1, 5)).waitFor();
    expect(await reading(page, pointText(1, 5)).isVisible()).toBe(true);
  });

  test("shows its bars in forced colours, those of bots as outlines", async () => {
    await addVisits(curt, "jung", [{ bot: true }], curt.nowMs() - DAY_MS);
    await laptop.goto("/jung+");
    await laptop.emulateMedia({ forcedColors: "active" });
    const [black, white] = ["rgb(0, 0, 0)", "rgb(255, 255, 255)"];
    const colours = await laptop.evaluate(`[".bars rect:not([class])", ".bars .bots"].map((bar) => {
      const { fill, stroke } = getComputedStyle(document.querySelector(bar));
      return [fill, stroke];
    })`);
    expect(colours).toEqual([
      [black, "none"],
      [white, black],
    ]);
    expect(await laptop.evaluate<string>("getComputedStyle(document.body).backgroundColor")).toBe(white);
    await laptop.emulateMedia({ forcedColors: "none" });
  });

  test("shows the sum of its bars, with the colours of people and bots as its key", async () => {
    await laptop.goto("/alt+");
    const sum = (term: string) =>
      laptop
        .locator(".sums > div")
        .filter({ has: laptop.getByText(term, { exact: true }) })
        .getByRole("definition")
        .textContent();
    expect(await sum(say("preview.people"))).toBe("17");
    expect(await laptop.locator(".sums dt").allTextContents()).toEqual(
      (["preview.people", "preview.bots", "preview.visitors"] as const).map((name) => say(name)),
    );
    const [people, bots, bar] = await laptop.evaluate<string[]>(`[
      ...[...document.querySelectorAll(".sums dt")].slice(0, 2).map((term) => getComputedStyle(term, "::before").backgroundColor),
      getComputedStyle(document.querySelector(".bars rect:not([class])")).fill,
    ]`);
    expect(people).toBe(bar);
    expect(bots).not.toBe(bar);
  });
});

describe("the ranges of a chart", () => {
  test("change the chart and the address without a reload, and the back button restores the previous range", async () => {
    await laptop.setViewportSize({ width: 1280, height: 400 });
    await laptop.goto("/alt+");
    await slider(laptop).waitFor();
    await laptop.evaluate("globalThis.isSame = true");
    const address = () => laptop.evaluate<string>("location.pathname + location.search");
    const scrolled = () => laptop.evaluate<number>("scrollY");
    expect(await pointsOf(laptop)).toHaveLength(30);
    await range(laptop, "7d").focus();
    await range(laptop, "7d").scrollIntoViewIfNeeded();
    const before = await scrolled();
    expect(before).toBeGreaterThan(0);
    await laptop.keyboard.press("Enter");
    await range(laptop, "7d").and(laptop.locator("[aria-current]")).waitFor();
    expect([await address(), await scrolled()]).toEqual(["/alt+?range=7d", before]);
    await untilFocused(range(laptop, "7d"));
    expect(await pointsOf(laptop)).toEqual([
      pointText(6, 0),
      pointText(5, 8),
      pointText(4, 0),
      pointText(3, 0),
      pointText(2, 0),
      pointText(1, 5),
      pointText(0, 1),
    ]);
    await by(laptop, "hour").click();
    await by(laptop, "hour").and(laptop.locator("[aria-current]")).waitFor();
    expect(await address()).toBe("/alt+?range=7d&by=hour");
    // Six whole days and the hours of today.
    expect(await pointsOf(laptop)).toHaveLength(6 * 24 + 13);
    await range(laptop, "all").click();
    await range(laptop, "all").and(laptop.locator("[aria-current]")).waitFor();
    expect(await address()).toBe("/alt+?range=all");
    expect((await pointsOf(laptop)).filter((point) => point.endsWith(": 120 visits"))).toHaveLength(1);
    await laptop.goBack();
    await by(laptop, "hour").and(laptop.locator("[aria-current]")).waitFor();
    expect(await address()).toBe("/alt+?range=7d&by=hour");
    await laptop.goBack();
    await laptop.goBack();
    await range(laptop, "30d").and(laptop.locator("[aria-current]")).waitFor();
    expect([await address(), (await pointsOf(laptop)).length]).toEqual(["/alt+", 30]);
    await laptop.goForward();
    await range(laptop, "7d").and(laptop.locator("[aria-current]")).waitFor();
    // The new chart shows its values as well.
    await slider(laptop).press("End");
    await reading(laptop, pointText(0, 1)).waitFor();
    expect(await laptop.evaluate("globalThis.isSame")).toBe(true);
    await laptop.setViewportSize(LAPTOP);
  });

  test("keep the chosen range and the bar in focus while new visits appear", async () => {
    await using page = await openPage(curt.origin, { ...UTC, viewport: LAPTOP });
    await page.clock.install({ time: curt.nowMs() });
    await createLink("lebendig");
    await visit(curt, "lebendig");
    await untilCounted(curt, "lebendig", 1);
    await page.goto("/still+?range=7d");
    await page.getByText(say("preview.waiting"), { exact: true }).waitFor();
    await visit(curt, "still");
    await untilCounted(curt, "still", 1);
    do await page.clock.runFor(POLL_MS);
    while ((await slider(page).count()) === 0);
    expect(await pointsOf(page)).toHaveLength(7);
    await slider(page).press("Home");
    await slider(page).press("ArrowRight");
    await reading(page, pointText(5, 0)).waitFor();
    await visit(curt, "still");
    await untilCounted(curt, "still", 2);
    do await page.clock.runFor(POLL_MS);
    while (!(await pointsOf(page)).includes(pointText(0, 2)));
    expect([page.url(), (await pointsOf(page)).length]).toEqual([`${curt.origin}/still+?range=7d`, 7]);
    await untilFocused(slider(page));
    await reading(page, pointText(5, 0)).waitFor();
    // The same for the bar under the mouse.
    await slider(page).blur();
    await page.locator(".bars").hover();
    await reading(page, pointText(3, 0)).waitFor();
    await visit(curt, "still");
    await untilCounted(curt, "still", 3);
    do await page.clock.runFor(POLL_MS);
    while (!(await pointsOf(page)).includes(pointText(0, 3)));
    await reading(page, pointText(3, 0)).waitFor();
  });

  test("are links that work without scripts, where each bar has its value and no slider appears", async () => {
    await using page = await openPage(curt.origin, { javaScriptEnabled: false, viewport: PHONE });
    await page.goto("/alt+?language=en");
    expect(await slider(page).count()).toBe(0);
    expect(await pointsOf(page)).toContain(pointText(5, 8));
    await range(page, "7d").click();
    await page.waitForURL("**/alt+?range=7d&language=en");
    await by(page, "hour").click();
    await page.waitForURL("**/alt+?range=7d&by=hour&language=en");
    expect(await pointsOf(page)).toHaveLength(6 * 24 + 13);
    await page.getByText(say("preview.table")).click();
    expect(await page.locator("#chart-table tbody tr").count()).toBe(3);
    await chooseLanguage(page, "ko");
    await page.waitForURL("**/alt+?range=7d&by=hour&language=ko");
  });

  test("show days and hours in the reader's time zone", async () => {
    await using page = await openPage(curt.origin, { timezoneId: "Asia/Seoul", viewport: LAPTOP });
    await page.goto("/alt+?range=7d&by=hour");
    const hour = new Intl.DateTimeFormat("en", {
      month: "short",
      day: "numeric",
      hour: "numeric",
      timeZone: "Asia/Seoul",
    }).format(curt.nowMs() - DAY_MS);
    const point = `${hour}: 5 visits`;
    await page.locator(".bars title").filter({ hasText: point }).waitFor({ state: "attached" });
    expect(await page.evaluate("location.search")).toBe("?range=7d&by=hour");
  });
});

test("the preview of a link without visits explains what to do, and shows the first visit without a reload", async () => {
  await using page = await openPage(curt.origin, { ...UTC, viewport: PHONE });
  await page.clock.install({ time: curt.nowMs() });
  await page.goto("/neu+");
  await page.getByText(say("preview.waiting"), { exact: true }).waitFor();
  await page.getByText(say("preview.waiting.next"), { exact: true }).waitFor();
  await visit(curt, "neu");
  await untilCounted(curt, "neu", 1);
  do await page.clock.runFor(POLL_MS);
  while ((await slider(page).count()) === 0);
  expect(await page.getByText(say("preview.waiting"), { exact: true }).count()).toBe(0);
});

test("each range has its own ETag, which changes within an hour", async () => {
  const read = (query: string, known = "") =>
    curt.fetch(`/alt+${query}`, { headers: { Accept: "text/html", "If-None-Match": known } });
  const tag = (await read("?range=7d")).headers.get("etag") ?? "";
  expect((await read("?range=7d", tag)).status).toBe(304);
  for (const query of ["", "?range=90d", "?range=7d&by=hour", "?range=7d&tz=Asia/Seoul"])
    expect([query, (await read(query, tag)).status]).toEqual([query, 200]);
  curt.advance(HOUR_MS);
  expect((await read("?range=7d", tag)).status).toBe(200);
});

test.each(readers(["en-GB", "ja-JP", "ko-KR"]))(
  "every range fits a small phone and is accessible (%s)",
  async (locale) => {
    await using page = await openPage(curt.origin, {
      ...UTC,
      locale,
      viewport: { width: 320, height: 740 },
    });
    if (locale === "en-GB") await loadAxe(page);
    for (const [address, isByDay] of [
      ["alt+?range=24h", false],
      ["alt+?range=7d", true],
      ["alt+?range=7d&by=hour", false],
      ["alt+", true],
      ["alt+?range=90d", true],
      ["alt+?range=all", false],
      ["alt+?range=all&by=day", true],
      ["jung+", false],
      ["still+", false],
    ] as const) {
      await page.goto(`/${address}`);
      await page.locator("#visits").waitFor();
      for (const width of [320, 360, 1280]) {
        await page.setViewportSize({ width, height: 740 });
        expect([address, width, ...(await faultsOf(page))]).toEqual([address, width]);
      }
      // Axe sees the charts by day in test/browser/every-page.test.ts.
      if (locale === "en-GB" && !isByDay) expect(await violationsOf(page)).toEqual([]);
    }
  },
);
