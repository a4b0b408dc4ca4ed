import { describe, expect, test } from "bun:test";

import type { LinkKey } from "../../src/links/code.ts";
import { shareStoreOf, shareService } from "../support/service.ts";
import { openPage, LAPTOP, PHONE, readers, untilFocused, wordsOf } from "./browser.ts";

const curt = shareService({ LIMIT_REPORT: "off" });
const store = shareStoreOf(curt);

const READERS = readers([
  { locale: "en-GB", viewport: LAPTOP, javaScriptEnabled: true },
  { locale: "en-GB", viewport: PHONE, javaScriptEnabled: false },
  { locale: "ko-KR", viewport: PHONE, javaScriptEnabled: true },
  { locale: "ko-KR", viewport: LAPTOP, javaScriptEnabled: false },
]);

describe.each(READERS)("the report page ($locale, scripts: $javaScriptEnabled)", (reader) => {
  const { locale, javaScriptEnabled } = reader;
  const say = wordsOf(locale);
  const code = `신고-${locale}-${javaScriptEnabled}`;

  async function caseOf(reported: string) {
    const link = await store.find(reported as LinkKey);
    return link && store.caseOf(link);
  }

  test("opens from the preview, requires a reason, and keeps the entries of a refused report", async () => {
    await curt.shorten({ original_url: "https://evil.example/path", custom_code: code });
    await using page = await openPage(curt.origin, reader);
    await page.goto(`/${encodeURIComponent(code)}+`);
    await page.getByRole("link", { name: say("preview.report"), exact: true }).click();
    await page.getByRole("heading", { level: 1, name: say("report.this") }).waitFor();
    await page.getByText("evil.example", { exact: true }).waitFor();
    const note = page.getByRole("textbox", { name: say("report.note") });
    const button = page.getByRole("button", { name: say("report.send") });
    await note.fill("\n처음 줄은 비어 있다.\n<b>둘째</b> 줄");
    await button.click();
    // In the page's language, unlike a message of the browser.
    await page.locator("#reason-error").waitFor();
    await untilFocused(page.getByRole("radio").first());
    expect(await caseOf(code)).toBeUndefined();
    await page.getByRole("radio", { name: say("report.reason.phishing") }).check();
    const typed = `${await note.inputValue()}${"가".repeat(2000)}`;
    await note.fill(typed);
    await button.click();
    await page.getByText(say("note.too-long", { max: 2000 })).waitFor();
    await untilFocused(note);
    expect(await note.inputValue()).toBe(typed);
    expect(await page.getByRole("radio", { name: say("report.reason.phishing") }).isChecked()).toBe(true);
    await note.fill(typed.slice(0, 100));
    await button.click();
    await page.getByRole("heading", { level: 1, name: say("report.thanks") }).waitFor();
    expect(page.url()).toBe(`${curt.origin}/+reported`);
    await page.reload();
    expect(await caseOf(code)).toMatchObject({
      reports: 1,
      notes: [{ reason: "phishing", note: typed.slice(0, 100) }],
    });
  });

  test("opens from the footer of any page by the short address, and reports an unknown one", async () => {
    await using page = await openPage(curt.origin, reader);
    await page.goto("/nobody-made-it");
    await page
      .getByRole("contentinfo")
      .getByRole("link", { name: say("page.report") })
      .click();
    const address = page.getByRole("textbox", { name: say("report.address") });
    await untilFocused(address);
    await address.fill("https://curt.example/nobody-made-it");
    await address.press("Enter");
    await page.getByText(say("unknown")).waitFor();
    expect(await address.inputValue()).toBe("https://curt.example/nobody-made-it");
    await address.fill(`https://curt.example/${code}/`);
    await address.press("Enter");
    await page.waitForURL(`**/${encodeURIComponent(code)}+report#reason`);
    // One press chooses the first reason, and Enter sends the form.
    await untilFocused(page.getByRole("radio").first());
    expect(await page.evaluate("scrollY")).toBe(0);
    await page.getByRole("radio", { name: say("report.reason.other") }).check();
    await page.getByRole("button", { name: say("report.send") }).click();
    await page.getByText(say("report.thanks.next")).waitFor();
  });
});
