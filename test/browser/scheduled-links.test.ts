import { describe, expect, test } from "bun:test";

import type { Page } from "playwright-core";

import { DAY_MS, HOUR_MS } from "../../src/links/time.ts";
import { callApi, TARGET, destinationOf } from "../support/managed-links.ts";
import { BASE_URL, shareService } from "../support/service.ts";
import {
  openPage,
  openSettings,
  LAPTOP,
  openBrowser,
  PHONE,
  readers,
  untilFocused,
  wordsOf,
} from "./browser.ts";
import { makeButton } from "./home-form.ts";
import { scan } from "./scan.ts";

const curt = shareService();

const MINUTE_MS = 60_000;
const SEOUL_MS = 9 * HOUR_MS;

const MAKERS = readers([
  { locale: "en-GB", viewport: LAPTOP, javaScriptEnabled: true },
  { locale: "ko-KR", viewport: PHONE, javaScriptEnabled: true },
  { locale: "ko-KR", viewport: LAPTOP, javaScriptEnabled: false },
]);

describe.each(MAKERS)("a scheduled link ($locale, scripts: $javaScriptEnabled)", (maker) => {
  const { locale, javaScriptEnabled } = maker;
  const say = wordsOf(locale);
  const options = { ...maker, timezoneId: "Asia/Seoul" };
  /** A date as its maker types it: in the browser's time zone, which only a script can send. */
  const typed = (ms: number) =>
    new Date(ms + (javaScriptEnabled ? SEOUL_MS : 0)).toISOString().slice(0, "2026-01-01T00:00".length);
  const inMinutes = (ms: number) => Math.floor((curt.nowMs() + ms) / MINUTE_MS) * MINUTE_MS;

  /** Creates a link in the form, and waits for the notice that it is ready. */
  async function createLink(page: Page, code: string, startsMs: number): Promise<void> {
    await page.goto("/");
    await page.getByRole("textbox", { name: say("home.url") }).fill(TARGET);
    await page.getByRole("textbox", { name: say("home.code") }).fill(code);
    await page.getByText(say("home.more")).click();
    await page.getByLabel(say("home.starts")).fill(typed(startsMs));
    await makeButton(page).click();
    await page.getByText(say("preview.made")).waitFor();
  }

  const startOn = (page: Page) => page.locator(".start time").getAttribute("datetime");

  test("is visible only to its maker until it starts", async () => {
    const code = `나중-${locale}-${javaScriptEnabled}`;
    const startsMs = inMinutes(2 * DAY_MS);
    await using page = await openPage(curt.origin, options);
    await createLink(page, code, startsMs);
    if (javaScriptEnabled)
      await untilFocused(page.getByRole("button", { name: say("copy"), exact: true }).first());
    expect(await startOn(page)).toBe(new Date(startsMs).toISOString());
    await page.locator(".address", { hasText: code }).waitFor();
    await page
      .getByRole("region", { name: say("preview.leads") })
      .getByText("example.com")
      .first()
      .waitFor();
    const blank = await (await openBrowser()).newPage();
    expect(await scan(blank, page.locator(".qr svg"))).toBe(`${BASE_URL}/${encodeURIComponent(code)}`);
    await blank.close();
    for (const format of ["PNG", "SVG"]) {
      const downloading = page.waitForEvent("download");
      await page.getByRole("link", { name: format, exact: true }).click();
      expect((await downloading).suggestedFilename()).toBe(`${code}.${format.toLowerCase()}`);
    }
    await using stranger = await openPage(curt.origin, options);
    for (const path of ["", "/", "+", ".svg", ".png"])
      expect([path, (await stranger.goto(`/${code}${path}`))?.status()]).toEqual([path, 404]);
    expect((await callApi(curt, "GET", `/api/v1/links/${encodeURIComponent(code)}`)).status).toBe(404);
    // Later, the script finds the key in the list of this browser.
    if (javaScriptEnabled) {
      await page.context().clearCookies();
      await page.goto(`/${code}+`);
      await page.getByRole("heading", { level: 1, name: say("manage.title") }).waitFor();
      expect(await startOn(page)).toBe(new Date(startsMs).toISOString());
    }

    curt.advance(2 * DAY_MS);
    expect(await destinationOf(curt, code)).toBe(TARGET);
    expect((await stranger.goto(`/${code}+`))?.status()).toBe(200);
    expect(await stranger.locator(".start").count()).toBe(0);
  });

  test("moves to another start in the browser's time zone, or starts immediately", async () => {
    const code = `move-${locale}-${javaScriptEnabled}`;
    const [startsMs, laterMs, endsMs] = [DAY_MS, 3 * DAY_MS, 5 * DAY_MS].map(inMinutes) as [
      number,
      number,
      number,
    ];
    await using page = await openPage(curt.origin, options);
    await createLink(page, code, startsMs);
    await page.getByRole("button", { name: say("keep.now") }).click();
    await page.getByRole("heading", { level: 1, name: say("manage.title") }).waitFor();
    await openSettings(page);
    expect(await startOn(page)).toBe(new Date(startsMs).toISOString());
    const [starts, ends] = (["scheduled.starts", "manage.ends"] as const).map((name) =>
      page.getByRole("group", { name: say(name), exact: true }),
    );
    if (!starts || !ends) throw new Error("There are two groups");
    const save = page.getByRole("button", { name: say("manage.save") });
    const saved = page.getByRole("status").filter({ hasText: say("link.changed") });
    const date = (group: typeof starts) => group.getByLabel(say("home.expires"));
    for (const group of [starts, ends])
      await group.getByRole("radio", { name: say("duration.date") }).check();
    expect(await date(starts).inputValue()).toBe(typed(startsMs));

    // Both errors are beside their fields, and the entries stay.
    const endedMs = inMinutes(-2 * DAY_MS);
    await date(starts).fill(typed(inMinutes(-DAY_MS)));
    await date(ends).fill(typed(endedMs));
    await save.click();
    for (const group of [starts, ends]) await group.getByText(say("expires_at.past")).waitFor();
    expect(await date(starts).getAttribute("aria-invalid")).toBe("true");
    expect(await date(ends).inputValue()).toBe(typed(endedMs));

    await date(starts).fill(typed(laterMs));
    await date(ends).fill(typed(endsMs));
    await save.click();
    await saved.waitFor();
    await openSettings(page);
    expect(await startOn(page)).toBe(new Date(laterMs).toISOString());
    const ending = page.locator(".lifetime > div", { hasText: say("preview.ends") }).locator("time");
    expect(await ending.getAttribute("datetime")).toBe(new Date(endsMs).toISOString());
    expect(await destinationOf(curt, code)).toBe(404);

    await starts.getByRole("radio", { name: say("manage.starts.now") }).check();
    await save.click();
    await page.locator(".start").waitFor({ state: "detached" });
    await saved.waitFor();
    expect(await destinationOf(curt, code)).toBe(TARGET);
    expect(await starts.count()).toBe(0);
  });
});

describe.each(MAKERS.slice(0, 2))("a taken code ($locale)", ({ locale, viewport }) => {
  const say = wordsOf(locale);

  test("is reported while typing, with similar free codes, and a click enters one of them", async () => {
    const code = `겨울-${locale}`;
    for (const taken of [code, `${code}-2`]) await curt.shorten({ original_url: TARGET, custom_code: taken });
    await using page = await openPage(curt.origin, { locale, viewport });
    const requests: string[] = [];
    page.on("request", (request) => void (/\/codes\//.test(request.url()) && requests.push(request.url())));
    await page.goto("/");
    const field = page.getByRole("textbox", { name: say("home.code") });
    const status = page.getByRole("status");
    await field.fill(code);
    await status.filter({ hasText: say("home.taken") }).waitFor();
    const offers = status.getByRole("button");
    expect(await offers.allTextContents()).toEqual([3, 4, 5].map((suffix) => `${code}-${suffix}`));
    const there = status.getByRole("link", { name: say("home.taken.see") });
    expect(await there.getAttribute("href")).toBe(`/${encodeURIComponent(code)}+`);
    expect(requests).toHaveLength(1);
    await offers.nth(1).click();
    expect(await field.inputValue()).toBe(`${code}-4`);
    await untilFocused(field);
    await status.filter({ hasText: say("home.free") }).waitFor();
    expect([requests.length, await offers.count()]).toEqual([2, 0]);
  });
});

test.each(["en-GB", "ko-KR", "ja-JP"])(
  "on a phone the form is fully in sight without scrolling (%s)",
  async (locale) => {
    await using page = await openPage(curt.origin, { locale, viewport: PHONE, isMobile: true });
    await page.goto("/");
    const button = await makeButton(page).boundingBox();
    expect((button?.y ?? 0) + (button?.height ?? 0)).toBeLessThanOrEqual(PHONE.height);
  },
);
