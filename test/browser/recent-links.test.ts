import { expect, test } from "bun:test";

import type { Page } from "playwright-core";

import { DAY_MS } from "../../src/links/time.ts";
import { relativeTime } from "../../src/locales/relative-time.ts";
import { startService, shareService } from "../support/service.ts";
import { untilCounted, visit } from "../visits/visits.ts";
import { openPage, openBrowser, PHONE, readers, stopTime, wordsOf } from "./browser.ts";
import { createInForm, makeButton } from "./home-form.ts";

const LONG = "https://www.example.com/long";

const curt = shareService();

const createLink = (page: Page, locale: string, code: string, end?: string) =>
  createInForm(page, { locale, url: LONG, code, end });

/** The list on the home page. */
function listOn(page: Page, locale: string) {
  const say = wordsOf(locale);
  const region = page.getByRole("region", { name: say("home.made-here") });
  const item = (code: string) =>
    region.getByRole("listitem").filter({ has: page.getByRole("link", { name: `/${code}` }) });
  return { region, items: region.getByRole("listitem"), item };
}

test.each(readers(["en-GB", "ja-JP", "ko-KR"]))(
  "the home page lists links created in this browser, newest first, with visits and remaining time (%s)",
  async (locale) => {
    const say = wordsOf(locale);
    await using page = await openPage(curt.origin, { locale, viewport: PHONE });
    const [duration, short] = [`계속-${locale}`, `잠깐-${locale}`];
    await createLink(page, locale, duration);
    await createLink(page, locale, short, say("duration.48h"));
    await visit(curt, duration);
    await untilCounted(curt, duration, 1);
    await page.goto("/");
    const { region, items, item } = listOn(page, locale);
    await item(short).filter({ hasText: "48" }).waitFor();
    expect(await region.locator("[data-code]").allTextContents()).toEqual([`/${short}`, `/${duration}`]);
    const { host, pathname } = new URL(LONG);
    expect(await items.first().getByText(`${host}${pathname}`).getAttribute("title")).toBe(LONG);
    expect(await items.first().textContent()).toContain(`0 ${say("preview.visits")}`);
    expect(await items.last().textContent()).toContain(`1 ${say("preview.visits")}`);
    const left = relativeTime(locale.slice(0, 2)).format(48, "hour");
    expect(await items.first().textContent()).toContain(say("home.ends-in", { left }));
    // The list copies an address and opens its preview.
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: curt.origin });
    await stopTime(page);
    await item(duration)
      .getByRole("button", { name: say("copy") })
      .click();
    await item(duration)
      .filter({ hasText: say("copied") })
      .waitFor();
    expect(await page.evaluate<string>("navigator.clipboard.readText()")).toBe(
      `https://curt.example/${duration}`,
    );
    await item(short).getByRole("link").first().click();
    await page.locator(".address", { hasText: short }).waitFor();

    await using other = await openPage(curt.origin, { locale });
    await other.goto("/");
    await other.goto(`/${encodeURIComponent(short)}+#made`);
    await other.goto("/");
    expect(await listOn(other, locale).region.count()).toBe(0);
  },
);

test("the list marks expired links, and links whose code is free again or belongs to another link", async () => {
  const say = wordsOf("en");
  await using past = await startService({}, { startMs: Date.now() - 33 * DAY_MS });
  await using page = await openPage(past.origin);
  // Its QR code comes late on a busy machine, and must come while the link works.
  const untilDrawn = () => page.locator(".picture img").evaluate((image: any) => image.decode());
  for (const code of ["free", "reused"]) await createLink(page, "en", code, say("duration.24h"));
  await untilDrawn();
  past.advance(31 * DAY_MS);
  const others = { original_url: "https://www.example.com/others", custom_code: "reused" };
  expect((await past.shorten(others)).status).toBe(201);
  await createLink(page, "en", "ended", say("duration.24h"));
  await untilDrawn();
  past.advance(2 * DAY_MS);
  await page.goto("/");
  const { item } = listOn(page, "en");
  await item("ended")
    .filter({ hasText: say("home.ended") })
    .waitFor();
  const gone = page.getByRole("listitem").filter({ hasText: say("home.gone") });
  await gone.nth(1).waitFor();
  expect((await gone.locator("[data-code]").allTextContents()).join()).toMatch(/\/reused,.*\/free$/);
  // The list keeps the old destination, and shows nothing of the other link.
  expect((await gone.allTextContents()).join()).not.toContain("example.com/others");
  expect(await gone.getByRole("button", { name: say("copy") }).count()).toBe(0);
});

test("the home page lists the latest three links and refers to all of them", async () => {
  const say = wordsOf("en");
  await using page = await openPage(curt.origin);
  const { region, items } = listOn(page, "en");
  await createLink(page, "en", "first-of-four");
  await page.goto("/");
  await region.getByRole("link", { name: say("links.title") }).waitFor();
  for (const code of ["second", "third", "fourth"]) await createLink(page, "en", code);
  await page.goto("/");
  const all = region.getByRole("link", { name: say("links.all", { count: 4 }) });
  await all.waitFor();
  expect(await items.count()).toBe(3);
  await all.click();
  await page.getByRole("heading", { level: 1, name: say("links.title") }).waitFor();
  await page.getByRole("listitem").nth(3).waitFor();
  expect(await page.getByRole("listitem").count()).toBe(4);
});

test("the browser keeps the latest ten thousand links, and the list skips unreadable entries", async () => {
  await using page = await openPage(curt.origin);
  await createLink(page, "en", "before");
  const [entry] = (await page.evaluate("JSON.parse(localStorage['curt.made-here'])")) as object[];
  const many = Array.from({ length: 10_000 }, (_, nth) => ({ ...entry, path: `/api/v1/links/many-${nth}` }));
  await page.evaluate(`localStorage['curt.made-here'] = ${JSON.stringify(JSON.stringify(many))}`);
  await createLink(page, "en", "latest");
  const stored = (await page.evaluate("JSON.parse(localStorage['curt.made-here'])")) as { path: string }[];
  expect(stored.length).toBe(10_000);
  expect(stored.slice(0, 2).map(({ path }) => path.split("/").at(-1))).toEqual(["latest", "many-0"]);
  // Unreadable entries are skipped.
  const spoilt = [{ path: "/%", created: "x" }, { path: "/\ud800", created: "x" }, 7, stored[0]];
  await page.evaluate(`localStorage['curt.made-here'] = ${JSON.stringify(JSON.stringify(spoilt))}`);
  await page.goto("/");
  const { items } = listOn(page, "en");
  await items.first().waitFor();
  expect(await items.count()).toBe(1);
});

test("an unavailable service doesn't make a link look deleted", async () => {
  // In a window of its own, because the browser reports a 503 as a problem.
  const context = await (await openBrowser()).newContext({ baseURL: curt.origin, locale: "en-GB" });
  const page = await context.newPage();
  await createLink(page, "en", "still-there");
  await page.route("**/api/v1/links/*", (route) =>
    route.fulfill({ status: 503, json: { status: "error", message: "" } }),
  );
  await page.goto("/");
  const { items } = listOn(page, "en");
  await items.first().waitFor();
  expect(await items.first().textContent()).toContain(wordsOf("en")("home.unknown"));
  await context.close();
});

test.each([
  [
    "refuses storage",
    "for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { get() { throw new DOMException('denied', 'SecurityError') } })",
  ],
  [
    "has no room left",
    "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }",
  ],
  ["has stored something else", "try { localStorage.setItem('curt.made-here', '[null, {}, 5') } catch {}"],
])("a browser that %s creates links like any other", async (_what, script) => {
  await using page = await openPage(curt.origin);
  await page.context().addInitScript(script);
  const code = `stored-${Bun.hash(script).toString(36)}`;
  await createLink(page, "en", code);
  await page.getByText(wordsOf("en")("preview.made")).waitFor();
  // The last script of the page, and the first, have run.
  await page
    .getByRole("button", { name: wordsOf("en")("copy") })
    .first()
    .waitFor();
  await page.goto("/");
  await page.getByRole("textbox", { name: wordsOf("en")("home.code") }).fill(code);
  await page
    .getByRole("status")
    .filter({ hasText: wordsOf("en")("home.taken") })
    .waitFor();
});

test("a link of somebody else isn't added to the list after a refused form", async () => {
  await using page = await openPage(curt.origin);
  await curt.shorten({ original_url: LONG, custom_code: "foreign" });
  await page.goto("/");
  await page.getByRole("textbox", { name: wordsOf("en")("home.url") }).fill("x");
  await makeButton(page).click();
  await page.locator("[aria-invalid]").waitFor();
  await page.goto("/foreign+#made");
  expect(await page.evaluate("localStorage['curt.made-here']")).toBeUndefined();
});
