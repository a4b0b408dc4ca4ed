import { expect, test } from "bun:test";

import { createAs, named, PROXY } from "../http/people.ts";
import { shareService } from "../support/service.ts";
import { untilCounted, visit } from "../visits/visits.ts";
import { loadAxe } from "./axe.ts";
import { LAPTOP, openPage, readers, wordsOf } from "./browser.ts";
import { AXE, FITS, FRAMED } from "./every-page.ts";

const office = shareService(PROXY);
const PHONE = { width: 390, height: 800 };

test.each(readers(["en-GB", "ja-JP", "ko-KR"]))(
  "a colleague finds the links of others, and makes one that is missing, with and without scripts (%s)",
  async (locale) => {
    const words = wordsOf(locale.slice(0, 2));
    const of = (code: string, more: object) =>
      createAs(office, "mina.of.the-platform-team@hanok.example", { code: `${code}-${locale}`, ...more });
    await of("handbook", { title: "Staff handbook", target: `https://wiki.example/${"long-".repeat(50)}` });
    await of("휴가", { title: "휴가 신청" });
    await of("payroll", { password: "open sesame" });
    const { data } = await of("party", { max_visits: 1 });
    await visit(office, data.code as string);
    await untilCounted(office, data.code as string, 1);
    for (const javaScriptEnabled of [true, false]) {
      await using page = await openPage(office.origin, {
        locale,
        javaScriptEnabled,
        viewport: LAPTOP,
        extraHTTPHeaders: named("joon"),
      });
      if (javaScriptEnabled) await loadAxe(page);
      await page.goto("/+links");
      await page.getByRole("link", { name: words("all.title") }).click();
      await page.getByText("Staff handbook").first().waitFor();
      if (javaScriptEnabled) {
        for (const size of [PHONE, LAPTOP]) {
          await page.setViewportSize(size);
          for (const [what, look] of [AXE, FITS, FRAMED])
            expect([what, await look(page)]).toEqual([what, []]);
        }
      }
      await page.getByRole("searchbox").fill(`handbok-${locale}`);
      await page.getByRole("button", { name: words("admin.search") }).click();
      await page.getByText(words("all.near")).waitFor();
      await page.goto(`/handbok-${locale}`);
      await page.getByRole("link", { name: `/handbook-${locale}` }).waitFor();
      await page.getByRole("button", { name: words("page.unknown.make") }).click();
      expect(await page.locator("[name=custom_code]").inputValue()).toBe(`handbok-${locale}`);
    }
  },
);
