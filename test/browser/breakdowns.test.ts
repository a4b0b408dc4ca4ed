import { beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";

import type { Locator, Page } from "playwright-core";

import { DAY_MS, HOUR_MS } from "../../src/links/time.ts";
import { shareService } from "../support/service.ts";
import { addVisits } from "../visits/visits.ts";
import { openPage, PHONE, wordsOf } from "./browser.ts";

/** A Wednesday, 10 o'clock in Seoul. */
const CREATED_MS = Date.UTC(2026, 10, 18, 1);
const LONG_NAME = `${"long-name.".repeat(24)}example.com`;
const SEOUL = { timezoneId: "Asia/Seoul", locale: "en-US" };

const curt = shareService({ STATS_SHOWN: "all" }, { startMs: CREATED_MS });
beforeAll(async () => {
  await curt.shorten({ original_url: "https://example.com/", custom_code: "한글" });
  const hosts = [LONG_NAME, ...Array.from({ length: 11 }, (_, nth) => `host-${nth}.example`)];
  await addVisits(
    curt,
    "한글",
    hosts.flatMap((referrer, nth) =>
      Array.from({ length: 30 - nth }, (_, visitor) => ({ referrer, visitor, country: "JP" })),
    ),
  );
  // Seven days, the first of which has all visits.
  curt.advance(6 * DAY_MS + HOUR_MS);
});

function list(page: Page, name: string): Locator {
  return page.getByRole("table").filter({ has: page.getByRole("columnheader", { name, exact: true }) });
}

test("without scripts, a preview shows every value of six breakdowns and fits the smallest phone", async () => {
  await using page = await openPage(curt.origin, {
    ...SEOUL,
    javaScriptEnabled: false,
    viewport: PHONE,
  });
  const say = wordsOf("en");
  await page.goto("/한글+");
  for (const [dimension, row] of [
    ["referrers", `${LONG_NAME} 30 10%`],
    ["countries", "Japan 294 100%"],
    ["browsers", "Chrome 294 100%"],
    ["operating_systems", "Windows 294 100%"],
    ["devices", `${say("device.desktop")} 294 100%`],
    ["languages", "Korean 294 100%"],
  ] as const) {
    await page.getByRole("radio", { name: say(`preview.${dimension}`) }).check();
    await list(page, say(`preview.${dimension}`))
      .first()
      .getByRole("row", { name: row, exact: true })
      .waitFor();
  }
  await page.getByRole("radio", { name: say("preview.referrers") }).check();
  const shown = page.getByRole("rowheader").filter({ hasText: "example" });
  expect(await shown.count()).toBe(8);
  await page.getByText(say("preview.more", { count: 4 })).click();
  expect(await shown.count()).toBe(12);
  for (const width of [320, 360]) {
    await page.setViewportSize({ width, height: 740 });
    expect(await page.locator("html").evaluate((html: any) => html.scrollWidth <= html.clientWidth)).toBe(
      true,
    );
  }
});

test("the length of a bar is proportional to its share", async () => {
  await using page = await openPage(curt.origin, { ...SEOUL, javaScriptEnabled: false });
  await page.goto("/한글+");
  for (const [dimension, name, length] of [
    ["referrers", "host-0", 10],
    ["countries", "Japan", 100],
  ] as const) {
    await page.getByRole("radio", { name: wordsOf("en")(`preview.${dimension}`) }).check();
    const row = page.getByRole("row").filter({ has: page.getByRole("rowheader", { name }) });
    const drawn = await row.evaluate((one: any) => {
      const [bar, whole] = ["rect", "svg"].map((tag) => one.querySelector(tag).getBoundingClientRect().width);
      return Math.round((100 * bar) / whole);
    });
    expect(drawn).toBe(length);
  }
});

test("visits by day and hour are a table in the reader's time zone that fits a phone and responds to touch and arrow keys", async () => {
  await using page = await openPage(curt.origin, {
    ...SEOUL,
    viewport: { width: 320, height: 740 },
    hasTouch: true,
  });
  await page.goto("/한글+");
  const week = page.getByRole("table", { name: wordsOf("en")("preview.week") });
  const wednesday = week.getByRole("row").filter({ has: page.getByRole("rowheader", { name: "Wed" }) });
  const busiest = wednesday.getByRole("cell", { name: "294" });
  // The script requests the page in the reader's zone once it has loaded.
  await page.getByText(/Most visits: Wednesday, 10\s–\s11\sAM \(294\)/).waitFor();
  expect(await wednesday.getByRole("cell").allTextContents()).toEqual(
    Array.from({ length: 24 }, (_, hour) => (hour === 10 ? "294" : "0")),
  );
  expect(await week.getByRole("columnheader").count()).toBe(24);
  // Its values are read by touch and by arrow keys.
  const reading = page.locator("p .reading");
  await wednesday.getByRole("cell").first().tap();
  await reading.getByText(/^Wed .+: 0$/).waitFor();
  await week.press("ArrowUp");
  await reading.getByText(/^Tue/).waitFor();
  await page.keyboard.press("Tab");
  expect(await reading.textContent()).toBe("");
  const colours = (cell: Locator) =>
    cell.evaluate((one: any) => one.ownerDocument.defaultView.getComputedStyle(one).backgroundColor);
  const empty = wednesday.getByRole("cell").first();
  // As on the preview of an ended link: where there is a QR code, it is printed alone.
  await page.locator(".sheet").evaluateAll((sheets: any[]) => sheets.forEach((sheet) => sheet.remove()));
  for (const media of [{ colorScheme: "dark" }, { forcedColors: "active" }, { media: "print" }] as const) {
    await page.emulateMedia({ colorScheme: "light", forcedColors: "none", media: "screen", ...media });
    expect(await colours(busiest)).not.toBe(await colours(empty));
  }
  await page.emulateMedia({ media: "screen" });
  const { width = 0, height = 0 } = (await busiest.boundingBox()) ?? {};
  expect([width >= 8, height >= 24]).toEqual([true, true]);
  expect(await page.locator("html").evaluate((html: any) => html.scrollWidth <= html.clientWidth)).toBe(true);
});

test("statistics are saved as CSV and JSON in the reader's time zone, in files named after the code", async () => {
  await using page = await openPage(curt.origin, { ...SEOUL, acceptDownloads: true });
  await page.goto("/한글+");
  await page.locator('a[href*="tz=Asia%2FSeoul"]').first().waitFor();
  const save = async (name: string) => {
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name }).click(),
    ]);
    return { name: file.suggestedFilename(), text: readFileSync(await file.path(), "utf8") };
  };
  const csv = await save("CSV");
  expect(csv.name).toBe("한글.csv");
  expect(csv.text).toStartWith(
    "dimension,value,visits,bots\r\nday,2026-11-18,294,0\r\nday,2026-11-19,0,0\r\n",
  );
  expect(csv.text).toContain(`\r\nreferrers,${LONG_NAME},30,\r\n`);
  const json = await save("JSON");
  expect(json.name).toBe("한글.json");
  expect(JSON.parse(json.text)).toMatchObject({
    data: { tz: "Asia/Seoul", interval: "day", from: "2026-11-18", to: "2026-11-24", visits: 294 },
  });
});
