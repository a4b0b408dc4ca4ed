// `npm run screenshots`: the picture of the README. A font with Hangul must be installed.
import { join } from "node:path";

import { openBrowser } from "../test/browser/browser.ts";
import { ROOT, startService } from "../test/support/service.ts";

const TARGET = "https://ko.wikipedia.org/wiki/%ED%95%9C%EA%B8%80%EB%82%A0";
const WIDTH = 820;
/** Height of the picture, down to the link's end. */
const HEIGHT = 1040;

await using curt = await startService({ BASE_URL: "https://curt.example" });
// The browser's own fonts have no Hangul.
const browser = await openBrowser({ FONTCONFIG_FILE: "/etc/fonts/fonts.conf" });
const page = await browser.newPage({ locale: "en-GB", viewport: { width: WIDTH, height: HEIGHT } });
await page.goto(curt.origin);
await page.getByRole("textbox").first().fill(TARGET);
await page.getByRole("textbox").nth(1).fill("autumn");
await page.locator("summary").filter({ visible: true }).first().click();
await page.getByRole("radio").nth(3).check();
await page.keyboard.press("Enter");
await page.waitForURL(/\+$/);
await page.waitForLoadState("networkidle");
const clip = { x: 0, y: 0, width: WIDTH, height: HEIGHT };
await page.screenshot({ path: join(ROOT, "docs/screenshots/result-en.png"), fullPage: true, clip });
await browser.close();
