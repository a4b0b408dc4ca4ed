import { expect, test } from "bun:test";

import type { Locator, Page } from "playwright-core";

import { shareService } from "../support/service.ts";
import { openPage, LAPTOP, PHONE, readers, wordsOf } from "./browser.ts";

const READERS = readers([
  { locale: "en-GB", viewport: LAPTOP },
  { locale: "ko-KR", viewport: PHONE },
]);

const curt = shareService();

async function preview(page: Page, code: string, original_url: string): Promise<void> {
  expect((await curt.shorten({ original_url, custom_code: code })).status).toBe(201);
  await page.goto(`/${encodeURIComponent(code)}+`);
}

/** The names of those parts that are visible on the page, from the top. */
function orderOf(page: Page, parts: Record<string, string>): Promise<string[]> {
  return page.evaluate(
    `Object.entries(${JSON.stringify(parts)}).map(([name, part]) => {
      const element = [...document.querySelectorAll(part)].find((one) => one.checkVisibility());
      return { name, top: element?.getBoundingClientRect().top };
    }).filter(({ top }) => top !== undefined).sort((one, other) => one.top - other.top).map(({ name }) => name)`,
  );
}

const PARTS = {
  address: ".address",
  copy: "[data-copy]",
  qr: ".qr",
  key: "[data-key]",
  destination: ".leads",
  visits: "#visits",
  report: "main a[href$='+report']",
};

test.each(READERS)(
  "a preview shows the destination right below the address and its button ($locale)",
  async (reader) => {
    const say = wordsOf(reader.locale);
    const ofVisitors = ["address", "destination", "report", "visits"];
    const { qr: _, ...withoutQr } = PARTS;
    await using maker = await openPage(curt.origin, reader);
    await maker.goto("/");
    await maker.getByRole("textbox", { name: say("home.url") }).fill("https://example.com/");
    await maker.keyboard.press("Enter");
    await maker.waitForURL(/\+$/);
    const order = await orderOf(maker, PARTS);
    // On a laptop, the QR code is beside the address. A phone has no room for it there.
    const isPhone = !order.includes("qr");
    expect(isPhone).toBe((reader.viewport?.width ?? 1280) < 480);
    // The key is beside the ticket.
    const isOfTicket = (part: string) => part !== "qr" && part !== "key";
    expect(order.filter(isOfTicket)).toEqual(["address", "copy", "destination", "visits"]);
    await using page = await openPage(curt.origin, reader);
    await page.goto(new URL(maker.url()).pathname);
    await page.getByRole("heading", { level: 1, name: say("preview.title") }).waitFor();
    expect(await orderOf(page, withoutQr)).toEqual(ofVisitors);
    const button = page.getByRole("link", { name: say("preview.continue", { domain: "example.com" }) });
    expect((await button.boundingBox())?.y).toBeLessThan(reader.viewport.height * 0.7);
  },
);

test("a long destination is folded to its start and end, and shown in full on request", async () => {
  await using page = await openPage(curt.origin, { viewport: PHONE });
  const url = `https://example.com/${"way/".repeat(2000)}?from=here&to=there#end`;
  await preview(page, "weit", url);
  const region = page.getByRole("region", { name: wordsOf("en")("preview.leads") });
  const folded = region.locator(".folded");
  expect(await folded.textContent()).toMatch(/^https:\/\/example\.com\/way\/.* … .*to=there#end$/);
  const heightOf = async () => (await region.boundingBox())?.height ?? 0;
  expect(await heightOf()).toBeLessThan(PHONE.height);
  await region.getByText(wordsOf("en")("preview.whole", { count: url.length.toLocaleString("en") })).click();
  expect(await region.getByText(url, { exact: true }).isVisible()).toBe(true);
  expect(await folded.isVisible()).toBe(false);
  expect(await heightOf()).toBeGreaterThan(PHONE.height);
});

test("hosts and addresses wrap at dots and slashes, never within a word", async () => {
  await using page = await openPage(curt.origin, { viewport: PHONE });
  await preview(
    page,
    "zeilen",
    "https://www.shop.our-own-spades.somecompany.example.co.uk/garden-tools?colour=darkgreen&size=verylarge&material=beech&handle=short",
  );
  const linesOf = (part: string) =>
    page.locator(part).evaluate((element: any) => {
      const range = element.ownerDocument.createRange();
      const lines: { text: string; bottom: number }[] = [];
      const walker = element.ownerDocument.createTreeWalker(element, 4);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        for (let nth = 0; nth < node.data.length; nth++) {
          range.setStart(node, nth);
          range.setEnd(node, nth + 1);
          const { top, bottom } = range.getBoundingClientRect();
          const last = lines.at(-1);
          if (last && top < last.bottom) last.text += node.data[nth];
          else lines.push({ text: node.data[nth], bottom });
        }
      }
      return lines.map(({ text }) => text);
    });
  // The font decides which part ends a line.
  for (let width = 260; width <= 400; width += 20) {
    await page.setViewportSize({ width, height: 740 });
    for (const part of [".host bdi", ".whole bdi"]) {
      const lines = await linesOf(part);
      expect(lines.length).toBeGreaterThan(1);
      for (const [nth, line] of lines.slice(0, -1).entries())
        expect(/[./?]$/.test(line) || /^[?&#]/.test(lines[nth + 1] ?? "") ? "" : line).toBe("");
    }
  }
  await page.setViewportSize(PHONE);
  // The registrable domain never breaks if it fits a line.
  expect((await linesOf(".host bdi")).some((line) => line.endsWith("example.co.uk"))).toBe(true);
});

test("a danger looks different from a hint, and its preview has no highlighted button", async () => {
  await using page = await openPage(curt.origin);
  const say = wordsOf("en");
  const region = page.getByRole("region", { name: say("preview.leads") });
  await preview(page, "harmlos", "https://example.com/");
  expect(await region.getByRole("listitem").count()).toBe(0);
  await region.locator(".primary").waitFor();
  await preview(page, "gefahr", "http://paypal.com.example.net/");
  const warnings = region.locator(".warnings");
  const front = say("hint.front", { name: "paypal.com", domain: "example.net" });
  expect(await warnings.getByRole("listitem").allTextContents()).toEqual([front]);
  const colourOf = (list: Locator) =>
    list.evaluate((one: any) => one.ownerDocument.defaultView.getComputedStyle(one).backgroundColor);
  expect(await colourOf(warnings)).not.toBe(await colourOf(region.locator(".hints")));
  expect(await region.locator(".hints").getByText(say("hint.http")).count()).toBe(1);
  expect(await region.locator(".primary").count()).toBe(0);
});
