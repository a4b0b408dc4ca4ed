import { describe, expect, test } from "bun:test";

import { DAY_MS } from "../../src/links/time.ts";
import { startService, shareService } from "../support/service.ts";
import { linkOf } from "../visits/visits.ts";
import {
  chooseLanguage,
  openPage,
  openSettings,
  LAPTOP,
  PHONE,
  readers,
  untilFocused,
  wordsOf,
} from "./browser.ts";
import { shareDestination } from "./destination-site.ts";

const WITHOUT_SCRIPTS = { javaScriptEnabled: false };

const curt = shareService({ POSTURE: "private" });
const destination = shareDestination();

const READERS = readers([
  { locale: "en-GB", viewport: LAPTOP },
  { locale: "ko-KR", viewport: PHONE },
]);

describe.each(READERS)("without scripts ($locale)", ({ locale, viewport }) => {
  const say = wordsOf(locale);
  const options = { ...WITHOUT_SCRIPTS, locale, viewport };

  test("the keyboard alone creates a link from the address that a refused form offers", async () => {
    await using page = await openPage(curt.origin, options);
    const { keyboard } = page;
    await page.goto("/");
    const address = page.getByRole("textbox", { name: say("home.url") });
    await address.focus();
    await keyboard.type("http//naver.com, https://example.com/");
    await keyboard.press("Tab");
    await untilFocused(page.getByRole("textbox", { name: say("home.code") }));
    const code = `손으로-${locale}`;
    await keyboard.insertText(code);
    for (const key of ["Tab", "ArrowDown", "ArrowDown", "Enter"]) await keyboard.press(key);
    await page.getByText(say("home.unclear")).waitFor();
    await untilFocused(address);
    await keyboard.press("Tab");
    await untilFocused(page.getByRole("button", { name: say("home.offer", { url: "http://naver.com" }) }));
    await keyboard.press("Enter");
    await page.waitForURL(/#made$/);
    await page.getByText(say("preview.made")).waitFor();
    const { created_at: created, expires_at: ends, target: original_url } = await linkOf(curt, code);
    expect(original_url).toBe("http://naver.com");
    expect(Date.parse(String(ends)) - Date.parse(String(created))).toBe(86_400_000);
  });

  test("a link is created, reported, managed with its key, and withdrawn", async () => {
    await using page = await openPage(curt.origin, options);
    const code = `내-${locale}`;
    const target = page.getByRole("textbox", { name: say("manage.target") });
    await page.goto("/");
    await page.getByRole("textbox", { name: say("home.url") }).fill("https://example.com/");
    await page.getByRole("textbox", { name: say("home.code") }).fill(code);
    await page.keyboard.press("Enter");
    const keep = page.getByRole("region", { name: say("keep.title") });
    const address = await keep.locator("[readonly]").inputValue();
    await keep.getByRole("button", { name: say("keep.now") }).click();
    await target.waitFor();

    await page.goto(`/${encodeURIComponent(code)}+report`);
    const note = page.getByRole("textbox", { name: say("report.note") });
    await page.getByRole("radio", { name: say("report.reason.spam") }).check();
    await note.fill("가".repeat(2001));
    await page.getByRole("button", { name: say("report.send") }).click();
    await page.getByText(say("note.too-long", { max: 2000 })).waitFor();
    await note.fill("가");
    await page.getByRole("button", { name: say("report.send") }).click();
    await page.getByRole("heading", { level: 1, name: say("report.thanks") }).waitFor();

    // Without the cookie, the preview asks for the key.
    await page.context().clearCookies();
    await page.goto(`/${encodeURIComponent(code)}+`);
    await page.getByRole("button", { name: say("page.more") }).click();
    await page.getByRole("link", { name: say("preview.manage"), exact: true }).click();
    const key = page.getByRole("textbox", { name: say("manage.key") });
    await key.fill("wrong");
    await key.press("Enter");
    await page.getByText(say("key.wrong")).waitFor();
    await key.fill(address);
    await key.press("Enter");
    await target.fill("naver.com");
    await page.getByRole("button", { name: say("manage.save") }).click();
    await page.getByText(say("target.scheme")).waitFor();
    await target.fill("https://example.net/");
    await page.getByRole("button", { name: say("manage.save") }).click();
    await page.getByText(say("link.changed")).waitFor();
    expect((await linkOf(curt, code))["target"]).toBe("https://example.net/");
    await openSettings(page);
    await page.getByRole("button", { name: say("manage.withdraw") }).click();
    await page.getByText(say("manage.sure.missing")).waitFor();
    await page.getByRole("checkbox", { name: say("manage.sure") }).check();
    await page.getByRole("button", { name: say("manage.withdraw") }).click();
    await page.getByText(say("link.ended")).waitFor();
  });

  test("the page of an unknown code suggests the link without glued characters, or offers to create the code", async () => {
    await using page = await openPage(curt.origin, options);
    const original_url = `http://127.0.0.1:${destination.port}/there`;
    await curt.shorten({ original_url, custom_code: `가을-${locale}` });
    await page.goto(`/가을-${locale})은`);
    await page.getByText(say("page.unknown.meant")).waitFor();
    await page.getByRole("link", { name: `가을-${locale}` }).press("Enter");
    await page.waitForURL(original_url);

    await page.goto(`${curt.origin}/없는-${locale}`);
    await page.getByRole("button", { name: say("page.unknown.make") }).press("Enter");
    await page.getByRole("textbox", { name: say("home.url") }).waitFor();
    expect(await page.getByRole("textbox", { name: say("home.code") }).inputValue()).toBe(`없는-${locale}`);
  });

  test("a preview shows times in UTC and the address in ASCII, continues to the destination, and has no button but its menu", async () => {
    await using page = await openPage(curt.origin, options);
    const original_url = `http://127.0.0.1:${destination.port}/there`;
    const code = `본다-${locale}`;
    await curt.shorten({ original_url, custom_code: code, expire_duration: "1month" });
    await page.goto(`/${encodeURIComponent(code)}+`);
    // The menu opens without scripts.
    expect(await page.getByRole("main").getByRole("button").allTextContents()).toEqual(["⋯"]);
    expect(await page.getByRole("time").allTextContents()).toEqual([
      expect.stringContaining("UTC"),
      expect.stringContaining("UTC"),
    ]);
    await page.getByText(say("preview.ascii")).click();
    await page.getByText(new URL(`https://curt.example/${code}`).href).waitFor();
    await page.getByRole("link", { name: say("preview.continue", { domain: "127.0.0.1" }) }).click();
    await page.waitForURL(original_url);
    await page.goto(`/${encodeURIComponent(code)}/`);
    expect(page.url()).toBe(original_url);
  });

  test("the page of one's own links explains how to find them without scripts", async () => {
    await using page = await openPage(curt.origin, options);
    await page.goto("/");
    await page.getByRole("link", { name: say("links.title") }).click();
    await page.getByRole("heading", { level: 1, name: say("links.title") }).waitFor();
    await page.getByText(say("links.noscript.find")).waitFor();
    expect(await page.getByRole("searchbox").count()).toBe(0);
  });

  test("a preview doesn't promise live numbers", async () => {
    await using open = await startService({ STATS_SHOWN: "all" });
    await using page = await openPage(open.origin, options);
    const code = `많다-${locale}`;
    await open.shorten({ original_url: "https://example.com/", custom_code: code });
    await page.goto(`/${encodeURIComponent(code)}+`);
    await page.getByText(say("preview.waiting")).waitFor();
    expect(await page.getByText(say("preview.live")).isVisible()).toBe(false);
  });

  test("an expired link (410) and an unknown code (404) have different pages", async () => {
    await using past = await startService({}, { startMs: Date.now() - 2 * DAY_MS });
    await using page = await openPage(past.origin, options);
    const code = `지남-${locale}`;
    await past.shorten({ original_url: "https://example.com/", custom_code: code, expire_duration: "24h" });
    past.advance(2 * DAY_MS);
    for (const [path, status, ending, next] of [
      [`/${encodeURIComponent(code)}`, 410, "expired", page.getByRole("link", { name: "Curt" })],
      ["/nobody-made-it", 404, "unknown", page.getByRole("button", { name: say("page.unknown.make") })],
    ] as const) {
      const response = await page.goto(path);
      expect([path, response?.status()]).toEqual([path, status]);
      await page.getByRole("heading", { level: 1, name: say(`page.${ending}.title`) }).waitFor();
      await page
        .getByText(say(ending === "unknown" ? "page.unknown.next.match" : `page.${ending}.next`))
        .waitFor();
      await next.click();
      await page.getByRole("textbox", { name: say("home.url") }).waitFor();
    }
  });
});

test("a chosen language stays, in a cookie that holds nothing else", async () => {
  await using page = await openPage(curt.origin, { ...WITHOUT_SCRIPTS, locale: "en-GB" });
  const heading = (locale: string) =>
    page.getByRole("heading", { level: 1, name: wordsOf(locale)("home.heading") });
  await page.goto("/");
  await heading("en").waitFor();
  expect(await page.context().cookies()).toEqual([]);
  await chooseLanguage(page, "ko");
  await heading("ko").waitFor();
  await page.goto("/");
  await heading("ko").waitFor();
  await page.goto("/nobody-made-it");
  await page.getByRole("heading", { level: 1, name: wordsOf("ko")("page.unknown.title") }).waitFor();
  const cookies = await page.context().cookies();
  expect(
    cookies.map(({ name, value, httpOnly, sameSite, path }) => ({ name, value, httpOnly, sameSite, path })),
  ).toEqual([{ name: "language", value: "ko", httpOnly: true, sameSite: "Lax", path: "/" }]);
  await chooseLanguage(page, "en");
  await page.getByRole("heading", { level: 1, name: wordsOf("en")("page.unknown.title") }).waitFor();
  expect((await page.context().cookies()).map(({ value }) => value)).toEqual(["en"]);
});

test("the language menu opens, and closes after Escape and after a tap outside", async () => {
  await using page = await openPage(curt.origin, { ...WITHOUT_SCRIPTS, viewport: PHONE });
  await page.goto("/+privacy");
  const menu = page.getByRole("button", { name: wordsOf("en")("page.languages") });
  const language = page.getByRole("link", { name: "한국어" });
  for (const close of [
    () => page.keyboard.press("Escape"),
    () => page.getByRole("contentinfo").click({ position: { x: 5, y: 5 } }),
  ]) {
    await language.waitFor({ state: "hidden" });
    await menu.click();
    await language.waitFor();
    await close();
  }
  await language.waitFor({ state: "hidden" });
});
