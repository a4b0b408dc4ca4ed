import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { type Running, startHere } from "../service.ts";
import { arrive, type Person, readers, wordsOf } from "./browser.ts";

const TOKEN = "correct-horse-battery";
const LONG = "https://example.com/long";

let curt: Running;
beforeAll(async () => {
  curt = await startHere({ CREATE_TOKEN: TOKEN, POSTURE: "private" });
});
afterAll(() => curt[Symbol.asyncDispose]());

describe.each(readers(["en-GB", "ko-KR"]))("a maker who knows the token of this service, %s,", (locale) => {
  const say = wordsOf(locale);
  const fieldOf = ({ page }: Person) => page.getByLabel(say("home.token"), { exact: true });

  async function make(maker: Person, token?: string): Promise<void> {
    const { page } = maker;
    await page.getByRole("textbox", { name: say("home.url") }).fill(LONG);
    if (token !== undefined) await fieldOf(maker).fill(token);
    await page.getByRole("button", { name: say("home.make") }).click();
  }

  test("is asked for it once, and no address has it", async () => {
    await using maker = await arrive(curt.origin, { locale });
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
    await make(maker, "wrong-horse-battery");
    await page.getByText(say("home.token.wrong")).waitFor();
    expect(await fieldOf(maker).inputValue()).toBe("");
    expect(await page.getByRole("textbox", { name: say("home.url") }).inputValue()).toBe(LONG);
    await make(maker, TOKEN);
    await page.getByText(say("preview.made")).waitFor();
    await page.goto("/");
    expect(await fieldOf(maker).isVisible()).toBe(false);
    await make(maker);
    await page.getByText(say("preview.made")).waitFor();
    // The API is tried with it.
    await page.goto("/docs");
    const section = page.locator("#createLink");
    await section.getByText(say("docs.try"), { exact: true }).click();
    await section.getByRole("button", { name: say("docs.try.send") }).click();
    await section.locator("output", { hasText: "201" }).waitFor();
  });

  test("needs no script", async () => {
    await using maker = await arrive(curt.origin, { locale, javaScriptEnabled: false });
    await maker.page.goto("/");
    await make(maker, TOKEN);
    await maker.page.waitForURL(/\+#made$/);
  });
});
