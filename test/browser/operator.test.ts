import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { Page } from "playwright-core";

import { DAY_MS, HOUR_MS } from "../../src/links/time.ts";
import {
  addCampaign,
  CAMPAIGN,
  campaignHost,
  operateAs,
  report,
  TOKEN,
  untilAnswered,
} from "../admin/operator.ts";
import { type LocalService, startService } from "../support/service.ts";
import { untilCounted, visit } from "../visits/visits.ts";
import { loadAxe, violationsOf, violationsOfWords } from "./axe.ts";
import { openPage, LAPTOP, PHONE, readers, untilFocused, wordsOf } from "./browser.ts";
import { FITS_ENLARGED } from "./every-page.ts";
import { faultsOf } from "./layout.ts";

const [, fitsEnlarged] = FITS_ENLARGED;

type Say = ReturnType<typeof wordsOf>;

async function signIn(page: Page, say: Say, token = TOKEN): Promise<void> {
  await page.goto("/admin");
  await untilFocused(page.getByLabel(say("admin.token")));
  await page.keyboard.type(token);
  await page.keyboard.press("Enter");
}

async function open(page: Page, say: Say, name: "cases" | "links" | "hosts" | "journal"): Promise<void> {
  const nav = page.getByRole("navigation", { name: say("admin.title") });
  await nav.getByRole("link", { name: say(`admin.${name}`), exact: true }).click();
  await page.getByRole("heading", { level: 1, name: say(`admin.${name}`) }).waitFor();
}

const OPERATORS = readers([
  { locale: "en-GB", viewport: LAPTOP, javaScriptEnabled: true, find: violationsOf },
  // The colours are the same in all languages.
  { locale: "ko-KR", viewport: PHONE, javaScriptEnabled: false, find: violationsOfWords },
]);

describe.each(OPERATORS)(
  "the operator's pages ($locale, scripts: $javaScriptEnabled)",
  ({ find, ...options }) => {
    const say = wordsOf(options.locale);
    let curt: LocalService;
    beforeAll(async () => {
      curt = await startService({ ADMIN_TOKEN: TOKEN });
      await addCampaign(curt);
      await curt.shorten({ original_url: "https://honest.example/verify-account/", custom_code: "honest" });
      for (const code of ["bad7", "honest"])
        await report(curt, code, { reason: "phishing", note: "<b>Fake!</b>" });
    });
    afterAll(async () => curt[Symbol.asyncDispose]());

    test("disable the links and hosts of a campaign, answer its reports, enable one link again, delete it, and record it all in the journal", async () => {
      await using page = await openPage(curt.origin, options);
      await signIn(page, say, "a-wrong-token-of-somebody");
      await page.getByText(say("operator.wrong")).waitFor();
      await signIn(page, say);
      await page.getByRole("heading", { level: 1, name: say("admin.cases") }).waitFor();

      // A report refers to the campaign.
      await page.getByRole("link", { name: "bad7" }).click();
      await page.getByRole("heading", { level: 2, name: /bad7$/ }).waitFor();
      await page.getByRole("link", { name: say("admin.case.none") }).click();
      await page.getByRole("heading", { level: 1, name: "bad7" }).waitFor();
      await page.getByText("<b>Fake!</b>").waitFor();
      expect(await page.locator(`a[href*="bank-7"]:not([href^="/admin/"])`).count()).toBe(0);
      await open(page, say, "links");
      await page.getByLabel(say("admin.q"), { exact: true }).fill("verify-account");
      await page.getByRole("button", { name: say("admin.search") }).click();
      await page.getByRole("link", { name: "honest" }).waitFor();
      expect(await page.getByRole("link", { name: /^bad\d+$/ }).count()).toBeGreaterThan(40);
      await page.getByRole("link", { name: say("admin.found.disable") }).click();

      // It shows how many links there are, and their hosts.
      const count = CAMPAIGN.links + 1;
      await page
        .getByRole("heading", { level: 1, name: say("admin.found.disable.title", { count }) })
        .waitFor();
      for (let nth = 0; nth < CAMPAIGN.hosts; nth++)
        await page.getByRole("checkbox", { name: campaignHost(nth) }).check();
      await page.getByLabel(say("admin.reason")).selectOption("phishing");
      await page.getByLabel(say("admin.note")).fill("campaign <i>");
      await page.getByRole("button", { name: say("admin.do.disable") }).click();
      await page.getByRole("status").getByText(say("admin.found.links", { count })).waitFor();
      for (const code of ["bad0", "bad59", "honest"]) await untilAnswered(curt, code, 410);
      expect((await curt.fetch("/before7")).status).toBe(302);
      await open(page, say, "hosts");
      expect(await page.getByRole("button", { name: say("admin.do.unblock-host") }).count()).toBe(
        CAMPAIGN.hosts,
      );

      // One of them was no bank.
      await page.goto("/admin/links/honest");
      await page.getByRole("button", { name: say("admin.do.enable") }).click();
      await page.getByRole("status").getByText(say("admin.did.enable"), { exact: true }).waitFor();
      await untilAnswered(curt, "honest", 302);
      await page.getByText(say("admin.do.erase")).first().click();
      await page.getByRole("checkbox", { name: say("admin.erase.confirm") }).check();
      await page
        .getByRole("button", { name: say("admin.do.erase") })
        .last()
        .click();
      await page.getByRole("status").getByText(say("admin.did.erase"), { exact: true }).waitFor();
      await untilAnswered(curt, "honest", 410);

      // Disabling the links has answered their reports.
      await open(page, say, "cases");
      await page.getByText(say("admin.cases.empty")).waitFor();

      await open(page, say, "journal");
      await page.getByText(say("admin.did.enable"), { exact: true }).waitFor();
      expect(await page.getByText("campaign <i>").count()).toBeGreaterThan(CAMPAIGN.hosts);

      await page.getByRole("button", { name: say("admin.title") }).click();
      await page.getByRole("button", { name: say("admin.sign-out") }).click();
      await page.getByLabel(say("admin.token")).waitFor();
      await page.goto("/admin/journal");
      await page.getByLabel(say("admin.token")).waitFor();
    });

    test("are accessible in light and dark mode in windows of any width, and fit with larger text", async () => {
      // The test runs its own script, where the page may not.
      await using page = await openPage(curt.origin, {
        ...options,
        javaScriptEnabled: true,
      });
      await loadAxe(page);
      const look = async (name: string) => {
        // Answers stay in the window, over the page.
        await page.evaluate(
          "document.querySelectorAll('.foot, .bulk').forEach((one) => { one.style.position = 'relative' })",
        );
        for (const width of [320, 390, 768, 1280]) {
          await page.setViewportSize({ width, height: options.viewport.height });
          expect([name, width, await find(page)]).toEqual([name, width, []]);
          expect([name, width, await faultsOf(page)]).toEqual([name, width, []]);
        }
        await page.setViewportSize(options.viewport);
        expect([name, await fitsEnlarged(page)]).toEqual([name, []]);
      };
      await report(curt, "bad5", { reason: "other", note: "x".repeat(500) });
      await report(curt, "before9", { reason: "spam" });
      await visit(curt, "before9");
      await untilCounted(curt, "before9", 1);
      await signIn(page, say, "wrong");
      await page.getByText(say("operator.wrong")).waitFor();
      await look("sign-in");
      await signIn(page, say);
      await page.getByRole("heading", { level: 1, name: say("admin.cases") }).waitFor();
      await page.goto("/admin?code=bad5");
      await page.getByRole("button", { name: say("admin.do.nothing") }).click();
      const undo = page.getByRole("status").getByRole("button", { name: say("admin.undo") });
      await undo.waitFor();
      await look("notice");
      await undo.click();
      await page.getByRole("status").getByText(say("admin.did.undo")).waitFor();
      for (const path of [
        "/admin",
        "/admin?code=before9&action=block-host",
        "/admin/figures",
        "/admin/links?q=nobody-made-it",
        "/admin/links?host=bank-5.example",
        "/admin/links?host=a/b",
        "/admin/links/bad5",
        "/admin/found?host=bank-5.example",
        "/admin/found?host=bank-5.example&action=enable",
        "/admin/hosts",
        "/admin/journal",
      ]) {
        await page.goto(path);
        await page.getByRole("navigation", { name: say("admin.title") }).waitFor();
        await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })");
        await look(path);
      }
    });
  },
);

test("arrow keys read the days of a figure", async () => {
  await using curt = await startService({ ADMIN_TOKEN: TOKEN });
  await using page = await openPage(curt.origin);
  const say = wordsOf("en");
  await curt.shorten({ original_url: "https://example.com/", custom_code: "visited" });
  await visit(curt, "visited");
  await untilCounted(curt, "visited", 1);
  await signIn(page, say);
  await page.getByRole("heading", { level: 1, name: say("admin.cases") }).waitFor();
  await page.goto("/admin/figures");
  const slider = page.getByRole("slider", { name: say("admin.count.visits") });
  await slider.focus();
  const reading = page.locator(".small-chart").filter({ has: slider }).locator(".reading");
  const today = new Intl.DateTimeFormat("en", { month: "short", day: "numeric", timeZone: "UTC" });
  const point = (days: number, count: number) => `${today.format(curt.nowMs() - days * DAY_MS)}: ${count}`;
  expect(await reading.textContent()).toBe(point(0, 1));
  await page.keyboard.press("ArrowLeft");
  expect(await reading.textContent()).toBe(point(1, 0));
  expect(await slider.getAttribute("aria-valuetext")).toBe(point(1, 0));
});

test("links are rows of one height, and the queue is beside the case or below it", async () => {
  await using curt = await startService({ ADMIN_TOKEN: TOKEN });
  await using page = await openPage(curt.origin);
  const destinations = [
    "https://누리집.example/",
    `https://example.com/${"long".repeat(500)}`,
    "http://a.example/",
  ];
  for (const [nth, original_url] of destinations.entries())
    await curt.shorten({ original_url, custom_code: "가나다라".repeat(1 + 7 * nth) });
  await report(curt, encodeURIComponent("가나다라"), { reason: "spam", note: "long ".repeat(400) });
  await signIn(page, wordsOf("en"));
  await page.locator(".case").waitFor();
  const boxesOf = (selector: string) =>
    page.evaluate<{ x: number; y: number; right: number; bottom: number }[]>(
      `[...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => one.getBoundingClientRect().toJSON())`,
    );
  for (const [{ width, height }, lines] of [
    [LAPTOP, 1],
    [PHONE, 2],
  ] as const) {
    await page.setViewportSize({ width, height });
    await page.goto("/admin");
    const [one, queue] = await boxesOf(".workspace > *");
    if (one === undefined || queue === undefined) throw new Error("there is no case");
    expect(queue.y >= one.bottom).toBe(lines === 2);
    expect(one.x >= queue.right).toBe(lines === 1);
    // The answers are in the window, however long the notes are.
    const [answers] = await boxesOf(".answers");
    expect(answers?.bottom).toBeLessThanOrEqual(height);
    await page.goto("/admin/links");
    const rows = await boxesOf(".cells li");
    const heights = new Set(rows.map(({ y, bottom }) => Math.round(bottom - y)));
    expect([rows.length, heights.size]).toEqual([3, 1]);
    expect(Math.max(...heights)).toBeLessThan(lines * 45);
  }
});

test("keys decide about reports, except while the operator types in a field, and times are in the operator's zone", async () => {
  await using curt = await startService({ ADMIN_TOKEN: TOKEN });
  await addCampaign(curt);
  const timeZone = "Asia/Seoul";
  await using page = await openPage(curt.origin, { timezoneId: timeZone });
  const say = wordsOf("en");
  for (const code of ["after1", "after2", "after3"]) await report(curt, code, { reason: "spam" });
  await signIn(page, say);
  const untilShown = (code: string) =>
    untilFocused(page.getByRole("heading", { level: 2, name: new RegExp(`${code}$`) }));
  // The oldest comes first, and has the focus.
  await untilShown("after1");
  await page.keyboard.press("j");
  await untilShown("after2");
  /** A key of a Korean layout, or one that an input method takes. */
  const pressOther = (key: string, code: string) =>
    page.evaluate(
      `document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "${key}", code: "${code}", bubbles: true }))`,
    );
  await pressOther("ㅏ", "KeyK");
  await untilShown("after1");
  await page.keyboard.press("D");
  await untilAnswered(curt, "after1", 410);
  await untilShown("after2");
  await pressOther("Process", "KeyX");
  await untilShown("after3");
  // Letters in a field decide nothing, and neither do digits while the reasons are closed.
  await page.getByLabel(say("admin.q")).focus();
  await page.keyboard.type("dbx");
  expect(await page.getByLabel(say("admin.q")).inputValue()).toBe("dbx");
  await page.keyboard.press("Tab");
  await page.keyboard.press("2");
  await page.keyboard.press("n");
  await page.keyboard.type("dx");
  await page.keyboard.press("Escape");
  await page.keyboard.press("r");
  await page.keyboard.press("2");
  await untilAnswered(curt, "after3", 410);
  // The focus stays in the page after the last report.
  await untilFocused(page.getByRole("heading", { level: 2, name: say("admin.nothing") }));
  const { history } = (await operateAs(curt)("GET", "links/after3")).data;
  expect(history).toMatchObject([{ action: "disable", reason: "phishing", note: "dx" }]);
  await page.keyboard.press("u");
  await untilAnswered(curt, "after3", 302);
  await page.getByRole("status").getByText(say("admin.did.undo")).waitFor();
  await untilShown("after3");
  await page.keyboard.press("d");
  await untilFocused(page.getByRole("heading", { level: 2, name: say("admin.nothing") }));

  // Times are in the operator's zone.
  await page.goto("/admin/links/after2");
  await page.locator("summary").getByText(say("manage.change")).click();
  await page.getByLabel(say("admin.ends.date", { zone: timeZone })).fill("2099-01-02T03:04");
  await page.getByRole("button", { name: say("admin.do.change") }).click();
  await page.locator("time[datetime='2099-01-01T18:04:00.000Z']").waitFor();
});

test("the journal is grouped by the reader's days, without scripts by those in UTC", async () => {
  await using curt = await startService(
    { ADMIN_TOKEN: TOKEN },
    { startMs: Date.parse("2026-11-21T14:30:00Z") },
  );
  const operate = operateAs(curt);
  await operate("PUT", "hosts/first.example", { reason: "spam" });
  // Midnight in Seoul is at 15:00 in UTC.
  curt.advance(HOUR_MS);
  await operate("PUT", "hosts/second.example", { reason: "spam" });
  for (const [javaScriptEnabled, days] of [
    [true, ["Sunday 22 November 2026", "Saturday 21 November 2026"]],
    [false, ["Saturday November 21 2026"]],
  ] as const) {
    await using page = await openPage(curt.origin, {
      locale: "en-GB",
      timezoneId: "Asia/Seoul",
      viewport: LAPTOP,
      javaScriptEnabled,
    });
    await signIn(page, wordsOf("en"));
    await open(page, wordsOf("en"), "journal");
    const headings = page.locator("[data-days] h2");
    await headings.nth(days.length - 1).waitFor();
    expect((await headings.allTextContents()).map((day) => day.replaceAll(",", ""))).toEqual([...days]);
    expect(await page.locator("[data-days] li").count()).toBe(2);
  }
});
