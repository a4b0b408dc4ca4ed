import { describe, expect, test } from "bun:test";

import { shareService } from "../support/service.ts";
import { openWindow, type BrowserWindow, readers, wordsOf } from "./browser.ts";

const TOKEN = "correct-horse-battery";
const LONG = "https://example.com/long";

const curt = shareService({ CREATE_TOKEN: TOKEN, POSTURE: "private" });

describe.each(readers(["en-GB", "ko-KR"]))("the form of an instance with CREATE_TOKEN (%s)", (locale) => {
  const say = wordsOf(locale);
  const fieldOf = ({ page }: BrowserWindow) => page.getByLabel(say("home.token"), { exact: true });

  async function createLink(maker: BrowserWindow, token?: string): Promise<void> {
    const { page } = maker;
    await page.getByRole("textbox", { name: say("home.url") }).fill(LONG);
    if (token !== undefined) await fieldOf(maker).fill(token);
    await page.getByRole("button", { name: say("home.make") }).click();
  }

  test("asks for the token once, refuses a wrong one, and keeps it out of addresses", async () => {
    await using maker = await openWindow(curt.origin, { locale });
    const { page } = maker;
    await page.goto("/");
    await fieldOf(maker).fill(TOKEN);
    await page.getByRole("textbox", { name: say("home.url") }).fill(LONG);
    await page.locator("a[hreflang]:not([aria-current])").first().click();
    await page.waitForURL(/language=/);
    expect(page.url()).toContain(encodeURIComponent(LONG));
    expect(page.url()).not.toContain(TOKEN);
    await maker.context.clearCookies();
    await page.goto("/");
    await createLink(maker, "wrong-horse-battery");
    await page.getByText(say("home.token.wrong")).waitFor();
    expect(await fieldOf(maker).inputValue()).toBe("");
    expect(await page.getByRole("textbox", { name: say("home.url") }).inputValue()).toBe(LONG);
    await createLink(maker, TOKEN);
    await page.getByText(say("preview.made")).waitFor();
    await page.goto("/");
    expect(await fieldOf(maker).isVisible()).toBe(false);
    await createLink(maker);
    await page.getByText(say("preview.made")).waitFor();
    // The reference sends requests with it.
    await page.goto("/docs");
    const section = page.locator("#createLink");
    await section.getByText(say("docs.try"), { exact: true }).click();
    await section.getByRole("button", { name: say("docs.try.send") }).click();
    await section.locator("output", { hasText: "201" }).waitFor();
  });

  test("works without scripts", async () => {
    await using maker = await openWindow(curt.origin, { locale, javaScriptEnabled: false });
    await maker.page.goto("/");
    await createLink(maker, TOKEN);
    await maker.page.waitForURL(/\+#made$/);
  });
});
