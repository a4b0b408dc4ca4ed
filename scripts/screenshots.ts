// `npm run screenshots`: makes the pictures in docs/screenshots, of a service with a month of visits. Needs a font with
// Hangul.
import { Database } from "bun:sqlite";
import { join } from "node:path";

import { openBrowser } from "../test/browser/browser.ts";
import { ROOT, startHere } from "../test/service.ts";

const FOLDER = join(ROOT, "docs/screenshots");
const DAY_MS = 86_400_000;
const TARGET = "https://ko.wikipedia.org/wiki/%ED%95%9C%EA%B8%80%EB%82%A0";
/** One language in light mode, the other in dark mode. */
const LOOKS = [
  { language: "en", locale: "en-GB", colorScheme: "light" },
  { language: "ko", locale: "ko-KR", colorScheme: "dark" },
] as const;

// Otherwise the browser's package makes it use fonts without Hangul.
process.env["FONTCONFIG_PATH"] ??= "/etc/fonts";
await using curt = await startHere({ BASE_URL: "https://curt.example" });
await curt.shorten({ original_url: TARGET, custom_code: "한글날" });
await curt.shorten({ original_url: TARGET, custom_code: "지난주", expire_duration: "1week" });
fillMonth();

const browser = await openBrowser();
for (const { language, ...look } of LOOKS) {
  const context = await browser.newContext({
    ...look,
    viewport: { width: 820, height: 560 },
    timezoneId: "Asia/Seoul",
  });
  const page = await context.newPage();
  const shoot = (name: string) =>
    page.screenshot({ path: join(FOLDER, `${name}-${language}.png`), fullPage: true });

  await page.goto(curt.origin);
  await shoot("home");
  await page.getByRole("textbox").first().fill(TARGET);
  await page.getByRole("textbox").nth(1).fill(`가을-${language}`);
  await page.getByRole("radio").nth(3).check();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\+$/);
  await settled();
  await shoot("result");
  await page.goto(`${curt.origin}/한글날+`);
  await settled();
  await shoot("preview");
  await page.goto(`${curt.origin}/지난주`);
  await shoot("expired");
  await context.close();

  /** Waits until the browser script has loaded the statistics again in the reader's time zone. */
  async function settled(): Promise<void> {
    await page.waitForLoadState("networkidle");
  }
}
await browser.close();

/** Makes the links a month old, ends one of them, and adds visits that rise and fall by the week. */
function fillMonth(): void {
  using database = new Database(curt.file);
  const nowMs = Date.now();
  const createdMs = nowMs - 30 * DAY_MS;
  database.run("UPDATE links SET created_ms = ?", [createdMs]);
  database.run("UPDATE links SET ends_ms = ? WHERE code = '지난주'", [nowMs - 2 * DAY_MS]);
  for (let ago = 29; ago >= 0; ago--) {
    const day = Math.floor(nowMs / DAY_MS) - ago;
    const visits = Math.round(90 + 60 * Math.sin((ago / 7) * 2 * Math.PI) + 3 * (30 - ago));
    const share = (part: number) => Math.round(visits * part);
    const detail = {
      visitors: share(0.8),
      values: {
        referrers: [
          ["", share(0.4)],
          ["search.naver.com", share(0.35)],
          ["m.cafe.daum.net", share(0.15)],
        ],
        countries: [
          ["KR", share(0.8)],
          ["US", share(0.1)],
          ["JP", share(0.06)],
        ],
        browsers: [
          ["Chrome", share(0.45)],
          ["Safari", share(0.3)],
          ["Samsung Internet", share(0.2)],
        ],
        devices: [
          ["phone", share(0.7)],
          ["desktop", share(0.26)],
          ["tablet", share(0.04)],
        ],
      },
      others: {},
    };
    database.run("INSERT INTO visits VALUES (?, '한글날', ?, ?, ?, 2, ?)", [
      day,
      createdMs,
      visits,
      share(0.07),
      JSON.stringify(detail),
    ]);
  }
}
