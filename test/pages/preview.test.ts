import { expect, test } from "bun:test";

import { NEVER_MS } from "../../src/links/time.ts";
import { message } from "../../src/locales/messages.ts";
import { CURT } from "../../src/pages/assets/branding.ts";
import { type Preview, previewPage } from "../../src/pages/preview/page.tsx";
import { chooseRange } from "../../src/pages/preview/ranges.ts";
import { resultPage } from "../../src/pages/preview/result.tsx";
import type { Statistics } from "../../src/visits/statistics/statistics.ts";

const NONE = { values: [], other: 0 };

function previewIn(
  language: string,
  { shown, visitors }: Pick<Statistics, "shown" | "visitors"> = { shown: "safe", visitors: 2543 },
  more: Partial<Preview> = {},
  render = previewPage,
): string {
  const breakdowns = {
    referrers: { values: [{ value: "host.example", visits: 3782 }], other: 0 },
    countries: NONE,
    browsers: NONE,
    operating_systems: NONE,
    devices: NONE,
    languages: NONE,
  };
  const series = [
    { start: "2026-11-20", visits: 3000, bots: 0 },
    { start: "2026-11-21", visits: 782, bots: 0 },
  ];
  return render(language, {
    code: "code",
    shortUrl: "https://curt.example/code",
    visited: "",
    edits: "24h",
    nowMs: Date.UTC(2026, 10, 21),
    target: "https://example.com/",
    createdMs: 0,
    targetSinceMs: 0,
    endsMs: NEVER_MS,
    hasEnded: false,
    hints: [],
    visits: 3782,
    bots: 0,
    range: chooseRange(
      {},
      {
        createdMs: Date.UTC(2026, 10, 20),
        endsMs: NEVER_MS,
        nowMs: Date.UTC(2026, 10, 22) - 1,
        keepDays: 400,
        timeZone: "UTC",
      },
    ),
    query: {},
    carried: {},
    statistics: {
      shown,
      from: "2026-11-20",
      to: "2026-11-21",
      visits: 3782,
      bots: 0,
      visitors,
      series,
      week: undefined,
      breakdowns,
    },
    ...more,
  })(CURT);
}

test.each([
  ["en", "Sum of daily visitors"],
  ["ja", "日別の訪問者の合計"],
  ["ko", "일별 방문자 합계"],
])("visitors are labelled as the sum of daily visitors (%s)", (language, name) => {
  expect(previewIn(language)).toMatch(new RegExp(`<dt>${name}</dt><dd[^>]*>2,543</dd>`));
});

test("only a page with STATS_SHOWN=safe says that it hides something, and one with count shows only totals", () => {
  const [safe, all, count] = (["safe", "all", "count"] as const).map((shown) =>
    previewIn("en", { shown, visitors: shown === "all" ? 2543 : null }),
  );
  const hint = message("en", "preview.privacy.safe", { fewest: 5 });
  expect(safe).toContain(hint);
  expect(safe).toContain(`>${message("en", "preview.visitors.later")}</span></dd>`);
  expect(all).not.toContain(hint);
  expect(count).not.toContain(hint);
  for (const shown of ["daily visitors", '<figure class="chart">']) {
    expect(safe).toContain(shown);
    expect(count).not.toContain(shown);
  }
  expect(count).toMatch(/data-fresh[^>]*>3,782</);
});

const toMaker = (language: string, preview: Preview) =>
  resultPage(language, { ...preview, manageKey: "key" });

test("the preview of a created link that starts later shows its start and its address to copy, but neither a link nor a QR code", () => {
  const startsMs = Date.UTC(2027, 0, 31, 9);
  const page = previewIn("en", undefined, { startsMs }, toMaker);
  expect(page).toContain('Starts on <time datetime="2027-01-31T09:00:00.000Z">');
  expect(page).toContain('data-copy="https://curt.example/code"');
  const started = previewIn("en", undefined, {}, toMaker);
  for (const part of ['href="/code+"', "/code.svg"]) {
    expect(started).toContain(part);
    expect(page).not.toContain(part);
  }
});
