import { describe, expect, test } from "bun:test";

import type { Locator, Page } from "playwright-core";

import { type Kind, TERM_NAMES, type TermName, TERMS } from "../../src/links/terms/terms.ts";
import { HOUR_MS } from "../../src/links/time.ts";
import { TOKEN } from "../admin/operator.ts";
import {
  expectTerms,
  type Given,
  type CreatedLink,
  createScheduled,
  SAMPLES,
  SCHEDULED,
  type Value,
  wrongTexts,
} from "../links/term-samples.ts";
import { TARGET } from "../support/managed-links.ts";
import { shareService } from "../support/service.ts";
import { chooseLanguage, openPage, openSettings, wordsOf } from "./browser.ts";

const curt = shareService({ ADMIN_TOKEN: TOKEN, POSTURE: "private" });

const SEOUL = { timezoneId: "Asia/Seoul" };
const AHEAD_MS = 9 * HOUR_MS;
const say = wordsOf("en-GB");

/** Enters a value into a form, or removes the term with null. */
function enter(form: Locator, name: TermName, value: Value | null): Promise<void> {
  return ENTER[TERMS[name].kind](form, name, value);
}

const ENTER: { readonly [K in Kind]: (form: Locator, name: TermName, value: Value | null) => Promise<void> } =
  {
    async when(form, name, value) {
      const term = TERMS[name];
      const date = dateOf(form, name);
      const choice = value === null && "none" in term ? term.none : "date";
      const choices = form.locator(`fieldset:has(${dateSelector(name)})`);
      await date.waitFor({ state: "attached" });
      // A lone date has no choices beside it.
      if ((await choices.count()) > 0)
        await choices.locator(`label:has([type=radio][value="${choice}"])`).click();
      if (value !== null)
        await date.fill(new Date(Date.parse(String(value)) + AHEAD_MS).toISOString().slice(0, 16));
    },
    count: (form, name, value) => form.locator(`[name=${name}]`).fill(value === null ? "" : String(value)),
    secret: (form, name, value) =>
      value === null
        ? form.locator("[name=remove]").check()
        : form.locator(`[name=${name}]`).fill(String(value)),
    flag: (form, name, value) => form.locator(`[type=checkbox][name=${name}]`).setChecked(value === true),
    text: (form, name, value) => form.locator(`[name=${name}]`).fill(value === null ? "" : String(value)),
  };

const dateSelector = (name: TermName) => `[type=datetime-local]:is([name=${name}], [name=${name}_date])`;
const dateOf = (form: Locator, name: TermName) => form.locator(dateSelector(name));

/** Wrong values that can be typed: browsers accept only valid dates. */
function wrongEntries(name: TermName): readonly Value[] {
  const values = wrongTexts(name).map(([value]) => value);
  return TERMS[name].kind === "when"
    ? values.filter((value) => !Number.isNaN(Date.parse(String(value))))
    : values;
}

describe("the home form in a browser", () => {
  async function open(page: Page): Promise<Locator> {
    await page.goto("/");
    const form = page.locator("form[data-make]");
    await form.locator("summary").click();
    return form;
  }
  async function expectCreated(form: Locator, given: Given): Promise<void> {
    const page = form.page();
    await form.locator("[name=original_url]").fill(TARGET);
    await form.locator("button.primary").first().click();
    await page.waitForURL(/\+(?:\?|$)/);
    const key = (await page.locator("[data-key]").getAttribute("data-key")) ?? "";
    await expectTerms(curt, { code: codeAt(page), key }, given);
  }

  test("creates a link with each term", async () => {
    await using person = await openPage(curt.origin, SEOUL);
    for (const name of TERM_NAMES) {
      const [value] = SAMPLES[name].values;
      const form = await open(person);
      await enter(form, name, value);
      await expectCreated(form, { [name]: value });
    }
  });

  test("keeps each term except secrets when the language changes", async () => {
    await using page = await openPage(curt.origin, SEOUL);
    for (const name of TERM_NAMES) {
      const [value] = SAMPLES[name].values;
      const form = await open(page);
      await enter(form, name, value);
      await chooseLanguage(page, "ja");
      await page.waitForURL(/language=/);
      await expectCreated(form, TERMS[name].kind === "secret" ? {} : { [name]: value });
    }
  });
});

function codeAt(page: Page): string {
  return new URL(page.url()).pathname.replace(/^\/(.*)\+$/, "$1");
}

describe("the manage form in a browser", () => {
  /** Opens the form that the script sends. */
  async function open(page: Page, { code, key }: CreatedLink): Promise<Locator> {
    // The same page with another fragment wouldn't be loaded again.
    await page.goto("about:blank");
    await page.goto(`/${code}+#key=${key}`);
    await openSettings(page);
    return page.locator("form[data-act=change]");
  }
  const save = (form: Locator) => form.getByRole("button", { name: say("manage.save") }).click();

  test("changes and removes each term", async () => {
    await using page = await openPage(curt.origin, SEOUL);
    for (const name of TERM_NAMES) {
      const link = await createScheduled(curt, name);
      const [first, other] = SAMPLES[name].values;
      for (const value of [other, first, null]) {
        const form = await open(page, link);
        await enter(form, name, value);
        await save(form);
        await page
          .getByRole("status")
          .filter({ hasText: say("link.changed") })
          .waitFor();
        // Without the script, it would be the page that the form was sent to.
        expect(codeAt(page)).toBe(link.code);
        await expectTerms(curt, link, { ...SCHEDULED, [name]: value });
      }
    }
  });

  test("refuses each wrong term beside its field", async () => {
    await using page = await openPage(curt.origin, SEOUL);
    for (const name of TERM_NAMES)
      for (const value of wrongEntries(name)) {
        const form = await open(page, await createScheduled(curt, name));
        await enter(form, name, value);
        await save(form);
        await form.locator(`#${name}-error`).waitFor();
        const field = TERMS[name].kind === "when" ? dateOf(form, name) : form.locator(`[name=${name}]`);
        expect(await field.getAttribute("aria-invalid")).toBe("true");
        expect(await field.getAttribute("aria-describedby")).toContain(`${name}-error`);
      }
  });
});
