import type { Locator, Page } from "playwright-core";

import { wordsOf } from "./browser.ts";

interface Entries {
  readonly locale?: string;
  readonly url?: string;
  /** Default: a generated one. */
  readonly code?: string;
  /** The name of a choice. Default: the link doesn't end. */
  readonly end?: string | undefined;
}

/** Its name says whether the browser can copy. */
export function makeButton(page: Page): Locator {
  return page.locator("[data-copies]");
}

/** Creates a link with the home form, waits for its preview, and returns its code as in the address. */
export async function createInForm(
  page: Page,
  { locale = "en", url = "https://example.com/", code = "", end }: Entries = {},
): Promise<string> {
  const say = wordsOf(locale);
  await page.goto("/");
  await page.getByRole("textbox", { name: say("home.url") }).fill(url);
  await page.getByRole("textbox", { name: say("home.code") }).fill(code);
  if (end !== undefined) await page.getByRole("radio", { name: end }).check();
  await makeButton(page).click();
  await page.waitForURL(/\+$/);
  return new URL(page.url()).pathname.slice(1, -1);
}
