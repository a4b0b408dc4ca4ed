// `npm run screenshots`: the pictures of README.md and docs/admin.md. A font with Hangul must be installed.
import { join } from "node:path";

import type { Page } from "playwright-core";

import { TOKEN } from "../test/admin/operator.ts";
import { openBrowser } from "../test/browser/browser.ts";
import { ROOT, startService } from "../test/support/service.ts";

const TARGET = "https://ko.wikipedia.org/wiki/%ED%95%9C%EA%B8%80%EB%82%A0";
/** What the operator finds: codes, destinations, and the reasons of their reports. */
const REPORTED = [
  ["coupon", "https://login.bank-3.example/verify-account", ["phishing", "phishing", "malware"]],
  ["free", "https://win-a-phone.example/now", ["spam", "spam"]],
  ["축제", "https://festival.example/2026/programme", ["other"]],
] as const;
/** Around what a picture shows, in pixels. */
const MARGIN = 12;
/** Of a picture, in pixels. */
const MAX_HEIGHT = 640;

await using curt = await startService({
  BASE_URL: "https://curt.example",
  ADMIN_TOKEN: TOKEN,
  TRUSTED_PROXIES: "127.0.0.1,::1",
});
// The browser's own fonts have no Hangul.
const browser = await openBrowser({ FONTCONFIG_FILE: "/etc/fonts/fonts.conf" });
const open = (width: number, height: number) =>
  browser.newPage({ locale: "en-GB", viewport: { width, height }, deviceScaleFactor: 2 });

/** Takes a picture of a part of the page, with a margin around it. */
async function shoot(page: Page, selector: string, name: string): Promise<void> {
  await page.waitForLoadState("networkidle");
  const box = await page.locator(selector).first().boundingBox();
  if (box === null) throw new Error(`${selector} isn't on the page`);
  const clip = {
    x: Math.max(0, box.x - MARGIN),
    y: Math.max(0, box.y - MARGIN),
    width: box.width + 2 * MARGIN,
    height: Math.min(box.height + 2 * MARGIN, MAX_HEIGHT),
  };
  await page.screenshot({ path: join(ROOT, `docs/screenshots/${name}.png`), fullPage: true, clip });
}

const home = await open(820, 1040);
await home.goto(curt.origin);
await home.getByRole("textbox").first().fill(TARGET);
await home.getByRole("textbox").nth(1).fill("한글날");
await home.keyboard.press("Enter");
await home.waitForURL(/\+$/);
await shoot(home, ".ticket", "result-en");

for (const [custom_code, original_url, reasons] of REPORTED) {
  await curt.shorten({ original_url, custom_code });
  for (const [nth, reason] of reasons.entries()) {
    // Each report is somebody else's.
    const headers = { "X-Forwarded-For": `192.0.2.${nth + 1}`, "Content-Type": "application/json" };
    const body = JSON.stringify({ reason });
    const { status } = await curt.fetch(`/api/v1/links/${custom_code}/reports`, {
      method: "POST",
      headers,
      body,
    });
    if (status !== 202) throw new Error(`the report of ${custom_code} got ${status}`);
  }
}
const desk = await open(1120, 800);
await desk.goto(`${curt.origin}/admin`);
await desk.locator('input[type="password"]').fill(TOKEN);
await desk.keyboard.press("Enter");
await desk.getByRole("link", { name: "coupon" }).first().waitFor();
await shoot(desk, "main", "admin-en");
await browser.close();
