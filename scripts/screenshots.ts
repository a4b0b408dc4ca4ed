// `npm run screenshots`: the pictures in docs/screenshots, of a service with visits of a month. A font with Hangul must
// be installed.
import { join } from "node:path";

import type { Code } from "../src/links/code.ts";
import { DAY_MS } from "../src/links/time.ts";
import { type DayDetail, writeDetail } from "../src/visits/detail.ts";
import { type Row, writeRows } from "../src/visits/slice.ts";
import { openBrowser } from "../test/browser/browser.ts";
import { openStoreOf, ROOT, startHere } from "../test/service.ts";

const FOLDER = join(ROOT, "docs/screenshots");
const DAYS = 30;
const TARGET = "https://ko.wikipedia.org/wiki/%ED%95%9C%EA%B8%80%EB%82%A0";
/** One language in light mode, the other in dark mode. */
const LOOKS = [
  { language: "en", locale: "en-GB", colorScheme: "light" },
  { language: "ko", locale: "ko-KR", colorScheme: "dark" },
] as const;

// Otherwise the browser's package makes it use fonts without Hangul.
process.env["FONTCONFIG_PATH"] ??= "/etc/fonts";
await using curt = await startHere(
  { BASE_URL: "https://curt.example" },
  { startMs: Date.now() - DAYS * DAY_MS },
);
await curt.shorten({ original_url: TARGET, custom_code: "한글날" });
// Ends two days ago.
curt.advance((DAYS - 9) * DAY_MS);
await curt.shorten({ original_url: TARGET, custom_code: "지난주", expire_duration: "1week" });
curt.advance(9 * DAY_MS);
await fillMonth("한글날");

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

/** The visits of the month since the link was made: they rise and fall by the week. */
async function fillMonth(code: string): Promise<void> {
  await using store = await openStoreOf(curt);
  const link = await store.find(code as Code);
  if (link === undefined) throw new Error(`${code} is not there`);
  const today = Math.floor(curt.nowMs() / DAY_MS);
  const rows = Array.from({ length: DAYS }, (_, ago): Row => {
    const visits = Math.round(90 + 60 * Math.sin((ago / 7) * 2 * Math.PI) + 3 * (DAYS - ago));
    const { createdMs } = link;
    return { code: link.code, createdMs, day: today - ago, visits, ...detailOf(visits) };
  });
  for (const [nth, row] of rows.toReversed().entries())
    await store.add({ source: "screenshots", sequence: nth + 1, from: 0, length: 1, rows: writeRows([row]) });
}

function detailOf(visits: number): Pick<Row, "bots" | "detail"> {
  const share = (part: number) => Math.round(visits * part);
  const detail: DayDetail = {
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
  return { bots: share(0.07), detail: writeDetail(detail) };
}
