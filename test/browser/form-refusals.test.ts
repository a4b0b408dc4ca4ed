import { beforeAll, describe, expect, test } from "bun:test";

import type { Locator, Page } from "playwright-core";

import { createManagedLink } from "../support/managed-links.ts";
import { endLink, shareService } from "../support/service.ts";
import { linkOf } from "../visits/visits.ts";
import { chooseLanguage, openPage, LAPTOP, PHONE, readers, untilFocused, wordsOf } from "./browser.ts";
import { makeButton } from "./home-form.ts";

const LONG = "https://example.com/long";

const curt = shareService();
beforeAll(() => curt.shorten({ original_url: LONG, custom_code: "mine" }));

/** The error of a field, or undefined if it has none. */
async function refusalOf(field: Locator): Promise<string | undefined> {
  return field.evaluate((input: any) =>
    input.getAttribute("aria-invalid") === "true"
      ? input.ownerDocument.getElementById(input.getAttribute("aria-describedby").split(" ")[0]).textContent
      : undefined,
  );
}

const READERS = readers([
  { locale: "en-GB", viewport: LAPTOP },
  { locale: "ko-KR", viewport: PHONE },
]);

describe.each(READERS)("a refused form ($locale)", ({ locale, viewport }) => {
  const say = wordsOf(locale);
  const fields = (page: Page) => ({
    address: page.getByRole("textbox", { name: say("home.url") }),
    code: page.getByRole("textbox", { name: say("home.code") }),
    create: makeButton(page),
  });

  /** Submits `address` and `code` by Enter in the code, and returns the form that comes back. */
  async function submitWrong(page: Page, address: string, code: string) {
    await page.goto("/");
    const form = fields(page);
    let sent = 0;
    page.on("request", (request) => (sent += Number(request.method() === "POST")));
    await form.address.fill(address);
    await form.code.fill(code);
    await page.getByText(say("home.more")).click();
    await page.getByRole("radio", { name: say("duration.1week") }).check();
    await form.code.press("Enter");
    await page.locator("[aria-invalid]").first().waitFor();
    expect(await page.title()).toBe(`${say("home.title.refused")} – Curt`);
    expect(sent).toBe(1);
    const chosen = page.getByRole("radio", { name: say("duration.1week") });
    // The entries are still there.
    expect([await form.code.inputValue(), await chosen.isChecked()]).toEqual([code, true]);
    return form;
  }

  test("shows the reason beside each field, keeps what was entered, and creates the link once corrected", async () => {
    await using page = await openPage(curt.origin, { locale, viewport });
    for (const [address, code, refusals] of [
      [LONG, "mine", { code: say("home.taken") }],
      [" ", "", { address: say("home.empty") }],
      ["https://curt.example/mine", "", { address: say("target.own") }],
      [
        "javascript:alert(1)",
        "a/b",
        { address: say("home.not-address"), code: say("code.character", { character: "/ (U+002F)" }) },
      ],
    ] as [string, string, { address?: string; code?: string }][]) {
      const form = await submitWrong(page, address, code);
      expect(await form.address.inputValue()).toBe(address.trim());
      expect([await refusalOf(form.address), await refusalOf(form.code)]).toEqual([
        refusals.address,
        refusals.code,
      ]);
      await untilFocused(refusals.address === undefined ? form.code : form.address);
    }
    expect(await page.getByRole("main").getByRole("button").count()).toBe(1);
    // Once corrected, the form creates the link with the chosen end.
    const form = fields(page);
    await form.address.fill(LONG);
    await form.code.fill(`right-${locale}`);
    // The errors disappear.
    expect(await page.locator("[aria-invalid], .error").count()).toBe(0);
    await form.create.click();
    await page.waitForURL(/\+$/);
    const { created_at: created, expires_at: ends } = await linkOf(curt, `right-${locale}`);
    expect(Date.parse(String(ends)) - Date.parse(String(created))).toBe(7 * 86_400_000);
  });

  test("reports all mistakes together, and offers free codes and the preview of a taken one", async () => {
    await using page = await openPage(curt.origin, { locale, viewport });
    const code = `차지-${locale}`;
    for (const taken of [code, `${code}-3`]) await curt.shorten({ original_url: LONG, custom_code: taken });
    await page.goto("/");
    const form = fields(page);
    await form.address.fill("ftp://example.com/");
    await form.code.fill(code);
    await page.getByText(say("home.more")).click();
    await page.getByRole("radio", { name: say("duration.date") }).check();
    const visits = page.getByRole("textbox", { name: say("home.max-visits") });
    await visits.fill("0");
    await form.code.press("Enter");
    await page.locator("[aria-invalid]").first().waitFor();
    await untilFocused(form.address);
    expect(await refusalOf(form.address)).toBe(say("home.not-address"));
    expect(await refusalOf(form.code)).toBe(say("home.taken"));
    expect(await refusalOf(page.getByLabel(say("home.expires")))).toBe(say("home.date.wrong"));
    expect(await refusalOf(visits)).toBe(say("home.max-visits.wrong", { min: 1, max: 1_000_000_000 }));
    const there = page.getByRole("link", { name: say("home.taken.see") });
    expect(await there.getAttribute("href")).toBe(`/${encodeURIComponent(code)}+`);
    expect(await page.locator("[name=instead]").allTextContents()).toEqual(
      [2, 4, 5].map((nth) => `${code}-${nth}`),
    );
    await form.address.fill(LONG);
    await visits.fill("");
    await page.getByRole("radio", { name: say("duration.24h") }).check();
    await page.getByRole("button", { name: `${code}-4` }).click();
    await page.waitForURL(/\+$/);
    expect((await linkOf(curt, `${code}-4`))["target"]).toBe(LONG);
  });
});

test("entries stay when the language changes, unless they are too long for an address", async () => {
  await using page = await openPage(curt.origin);
  const typed = { address: "ftp://example.com/?a=b&c=긴#d", code: "나의 링크", end: "duration.48h" } as const;
  const fill = async (locale: string) => {
    const say = wordsOf(locale);
    await page.getByRole("textbox", { name: say("home.url") }).fill(typed.address);
    await page.getByRole("textbox", { name: say("home.code") }).fill(typed.code);
    await page.getByText(say("home.more")).click();
    await page.getByRole("radio", { name: say(typed.end) }).check();
  };
  const expectFilled = async (locale: string) => {
    const say = wordsOf(locale);
    await page.getByRole("heading", { name: say("home.heading") }).waitFor();
    expect(await page.getByRole("textbox", { name: say("home.url") }).inputValue()).toBe(typed.address);
    expect(await page.getByRole("textbox", { name: say("home.code") }).inputValue()).toBe(typed.code);
    expect(await page.getByRole("radio", { name: say(typed.end) }).isChecked()).toBe(true);
  };
  await page.goto("/");
  await fill("en");
  await chooseLanguage(page, "ko");
  await expectFilled("ko");
  await makeButton(page).click();
  await page.locator("[aria-invalid]").first().waitFor();
  await chooseLanguage(page, "en");
  await expectFilled("en");
  // More than an address can hold is left behind.
  await page.getByRole("textbox", { name: wordsOf("en")("home.url") }).fill("긴".repeat(2000));
  await chooseLanguage(page, "ko");
  await page.getByRole("heading", { name: wordsOf("ko")("home.heading") }).waitFor();
});

test("an empty form reports the missing address and focuses its field", async () => {
  await using page = await openPage(curt.origin);
  await page.goto("/");
  const address = page.getByRole("textbox", { name: wordsOf("en")("home.url") });
  await makeButton(page).click();
  await page.locator("[aria-invalid]").waitFor();
  await untilFocused(address);
  expect(await refusalOf(address)).toBe(wordsOf("en")("home.empty"));
  expect(page.url()).toBe(`${curt.origin}/`);
});

test("Back shows a refused form again with its entries, and a refused password without sending it again", async () => {
  await using page = await openPage(curt.origin);
  const say = wordsOf("en");
  const address = page.getByRole("textbox", { name: say("home.url") });
  await page.goto("/");
  await address.fill("ftp://example.com/");
  await address.press("Enter");
  await page.locator("[aria-invalid]").waitFor();
  // It sets a cookie.
  await chooseLanguage(page, "en");
  await page.waitForURL(/language=en/);
  await page.goBack();
  expect(await address.inputValue()).toBe("ftp://example.com/");

  await createManagedLink(curt, { code: "locked", password: "open" });
  await page.goto("/locked");
  await page.getByLabel(say("password.label")).fill("wrong");
  await page.keyboard.press("Enter");
  await page.locator("[aria-invalid]").waitFor();
  const refusal = await page.getByRole("main").textContent();
  await page.goto("/+privacy");
  await page.goBack();
  // It names the remaining attempts, which a second request would lower.
  expect(refusal).toContain(say("password.left", { count: 9 }));
  expect(await page.getByRole("main").textContent()).toBe(refusal);

  await endLink(curt, "locked", Date.now());
  await page.getByLabel(say("password.label")).fill("open");
  await page.keyboard.press("Enter");
  const ended = page.getByRole("heading", { level: 1, name: say("page.expired.title") });
  await ended.waitFor();
  await chooseLanguage(page, "ko");
  await page.waitForURL(/language=ko/);
  await page.goBack();
  await ended.waitFor();
});
