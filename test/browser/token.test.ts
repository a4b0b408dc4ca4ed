import { describe, expect, test } from "bun:test";

import type { Page } from "playwright-core";

import { shareService } from "../support/service.ts";
import { chooseLanguage, openPage, readers, wordsOf } from "./browser.ts";
import { makeButton } from "./home-form.ts";

const TOKEN = "correct-horse-battery";
const LONG = "https://example.com/long";

const curt = shareService({ CREATE_TOKEN: TOKEN, POSTURE: "private" });

describe.each(readers(["en-GB", "ko-KR"]))("the form of an instance with CREATE_TOKEN (%s)", (locale) => {
  const say = wordsOf(locale);
  const fieldOf = (page: Page) => page.getByLabel(say("home.token"), { exact: true });

  async function createLink(page: Page, token?: string): Promise<void> {
    await page.getByRole("textbox", { name: say("home.url") }).fill(LONG);
    if (token !== undefined) await fieldOf(page).fill(token);
    await makeButton(page).click();
  }

  test("asks for the token once, refuses a wrong one, and keeps it out of addresses", async () => {
    await using page = await openPage(curt.origin, { locale });
    await page.goto("/");
    await fieldOf(page).fill(TOKEN);
    await page.getByRole("textbox", { name: say("home.url") }).fill(LONG);
    await chooseLanguage(page, "ja");
    await page.waitForURL(/language=/);
    expect(page.url()).toContain(encodeURIComponent(LONG));
    expect(page.url()).not.toContain(TOKEN);
    await page.context().clearCookies();
    await page.goto("/");
    await createLink(page, "wrong-horse-battery");
    await page.getByText(say("home.token.wrong")).waitFor();
    expect(await fieldOf(page).inputValue()).toBe("");
    expect(await page.getByRole("textbox", { name: say("home.url") }).inputValue()).toBe(LONG);
    await createLink(page, TOKEN);
    await page.getByText(say("preview.made")).waitFor();
    await page.goto("/");
    expect(await fieldOf(page).isVisible()).toBe(false);
    await createLink(page);
    await page.getByText(say("preview.made")).waitFor();
    // The reference sends requests with it.
    await page.goto("/docs");
    const section = page.locator("#createLink");
    await section.getByText(say("docs.try"), { exact: true }).click();
    await section.getByRole("button", { name: say("docs.try.send") }).click();
    await section.locator("output", { hasText: "201" }).waitFor();
  });

  test("works without scripts", async () => {
    await using page = await openPage(curt.origin, { locale, javaScriptEnabled: false });
    await page.goto("/");
    await createLink(page, TOKEN);
    await page.waitForURL(/\+#made$/);
  });
});
