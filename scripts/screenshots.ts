// `npm run screenshots`: the pictures in docs/screenshots, of a service with visits of a month. A font with Hangul
// and kanji must be installed.
import { join } from "node:path";

import type { Code } from "../src/links/code.ts";
import { DAY_MS, HOUR_MS } from "../src/links/time.ts";
import { type DayDetail, type Value, writeDetail } from "../src/visits/detail.ts";
import { type Row, encodeRows } from "../src/visits/visit-rows.ts";
import { openBrowser } from "../test/browser/browser.ts";
import { openStoreOf, ROOT, startHere } from "../test/service.ts";

const FOLDER = join(ROOT, "docs/screenshots");
const DAYS = 30;
const TARGET = "https://ko.wikipedia.org/wiki/%ED%95%9C%EA%B8%80%EB%82%A0";
const SEOUL_HOURS = 9;
const [WIDTH, HEIGHT] = [820, 560];
/** Down to when in the week people visit. */
const MAX_HEIGHT = 1400;
/** Down to how long the link lasts. */
const RESULT_HEIGHT = 1040;
const LOOKS = [
  { language: "en", code: "autumn", locale: "en-GB", colorScheme: "light" },
  { language: "ko", code: "가을-소풍", locale: "ko-KR", colorScheme: "dark" },
  { language: "ja", code: "秋の遠足", locale: "ja-JP", colorScheme: "light" },
] as const;

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

// The browser's own fonts have no Hangul.
const browser = await openBrowser({ FONTCONFIG_FILE: "/etc/fonts/fonts.conf" });
for (const { language, code, ...look } of LOOKS) {
  const context = await browser.newContext({
    ...look,
    viewport: { width: WIDTH, height: HEIGHT },
    timezoneId: "Asia/Seoul",
  });
  const page = await context.newPage();
  /** The whole page, or its beginning if it is long. */
  const shoot = async (name: string, maxHeight = MAX_HEIGHT) => {
    const { height } = (await page.locator("body").boundingBox()) ?? { height: HEIGHT };
    const clip = { x: 0, y: 0, width: WIDTH, height: Math.min(height, maxHeight) };
    await page.screenshot({ path: join(FOLDER, `${name}-${language}.png`), fullPage: true, clip });
  };

  await page.goto(curt.origin);
  await shoot("home");
  await page.getByRole("textbox").first().fill(TARGET);
  await page.getByRole("textbox").nth(1).fill(code);
  await page.locator("summary").filter({ visible: true }).first().click();
  await page.getByRole("radio").nth(3).check();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\+$/);
  await settled();
  await shoot("result", RESULT_HEIGHT);
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

/** The visits of the month since the link was made: most of them in the evening, and more at weekends. */
async function fillMonth(code: string): Promise<void> {
  await using store = await openStoreOf(curt);
  const link = await store.find(code as Code);
  if (link === undefined) throw new Error(`${code} is not there`);
  const { createdMs } = link;
  let sequence = 0;
  for (let day = Math.floor(createdMs / DAY_MS); day * DAY_MS < curt.nowMs(); day++) {
    const hours: Record<number, [visits: number, bots: number]> = {};
    for (let hour = 0; hour < 24; hour++) {
      const fromMs = day * DAY_MS + hour * HOUR_MS;
      const visits = fromMs < createdMs || fromMs > curt.nowMs() ? 0 : visitsOf(fromMs);
      if (visits > 0) hours[hour] = [visits, Math.round(visits * 0.07)];
    }
    const row = { code: link.code, createdMs, day, ...detailOf(hours) };
    await store.add({
      source: "screenshots",
      sequence: ++sequence,
      from: 0,
      length: 1,
      rows: encodeRows([row]),
    });
  }
}

function visitsOf(fromMs: number): number {
  const here = new Date(fromMs + SEOUL_HOURS * HOUR_MS);
  const near = (hour: number, width: number) => Math.exp(-(((here.getUTCHours() - hour) / width) ** 2));
  const isWeekend = here.getUTCDay() % 6 === 0;
  const likely = isWeekend
    ? 8 * near(15, 4) + 12 * near(21, 3)
    : 7 * near(8, 2) + 5 * near(12, 2) + 9 * near(21, 3);
  // The same on every run.
  return Math.round(likely * (1 + 0.4 * Math.sin(fromMs / HOUR_MS)));
}

function detailOf(hours: Required<DayDetail>["hours"]): Pick<Row, "visits" | "bots" | "detail"> {
  const counts = Object.values(hours);
  const [visits, bots] = [0, 1].map((nth) => counts.reduce((sum, count) => sum + (count[nth] ?? 0), 0)) as [
    number,
    number,
  ];
  const detail: DayDetail = {
    hours,
    visitors: Math.round(visits * 0.8),
    values: {
      referrers: parts({
        "": 0.4,
        "search.naver.com": 0.3,
        "m.cafe.daum.net": 0.15,
        "l.instagram.com": 0.1,
        "news.ycombinator.com": 0.05,
      }),
      countries: parts({ KR: 0.78, US: 0.1, JP: 0.08, DE: 0.04 }),
      browsers: parts({ Chrome: 0.4, Safari: 0.25, "Samsung Internet": 0.2, KakaoTalk: 0.1, Edge: 0.05 }),
      operating_systems: parts({ Android: 0.48, iOS: 0.24, Windows: 0.2, macOS: 0.08 }),
      devices: parts({ phone: 0.7, desktop: 0.26, tablet: 0.04 }),
      languages: parts({ ko: 0.78, en: 0.13, ja: 0.09 }),
    },
    others: {},
  };
  return { visits, bots, detail: writeDetail(detail) };

  /** Splits the visits; the first gets what is left by rounding. */
  function parts(shares: Record<string, number>): Value[] {
    const values = Object.entries(shares).map(([text, share]): Value => [text, Math.round(visits * share)]);
    const sum = values.reduce((all, [, count]) => all + count, 0);
    return values
      .map(([text, count], nth): Value => [text, nth === 0 ? count + visits - sum : count])
      .filter(([, count]) => count > 0);
  }
}
