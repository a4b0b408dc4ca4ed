import { expect, test } from "bun:test";

import { LANGUAGES, message } from "../../src/language/messages.ts";
import { NEVER_MS } from "../../src/links/link.ts";
import { CURT } from "../../src/pages/identity.ts";
import { previewPage } from "../../src/pages/preview.tsx";
import type { Statistics } from "../../src/visits/statistics.ts";

const NONE = { values: [], other: 0 };
const REFERRERS = Array.from({ length: 50 }, (_, nth) => ({
  value: `host${nth}.example`,
  visits: 100 - nth,
}));

function previewIn(
  language: string,
  { shown, visitors }: Pick<Statistics, "shown" | "visitors"> = { shown: "safe", visitors: 2543 },
): string {
  const breakdowns = {
    referrers: { values: REFERRERS, other: 7 },
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
  return previewPage(language, {
    code: "code",
    shortUrl: "https://curt.example/code/",
    target: "https://example.com/",
    createdMs: 0,
    endsMs: NEVER_MS,
    hasEnded: false,
    hints: [],
    visits: 3782,
    bots: 0,
    interval: "day",
    timeZone: "UTC",
    statistics: {
      shown,
      from: "2026-11-20",
      to: "2026-11-21",
      visits: 3782,
      bots: 0,
      visitors,
      series,
      breakdowns,
    },
  })(CURT);
}

test("every value is on the page, and only visits without a value to show are in a row of their own", () => {
  const rows = previewIn("en").matchAll(/<th scope="row"><bdi>([^<]*)<\/bdi><\/th><td[^>]*>([^<]*)</g);
  const told = REFERRERS.map(({ value, visits }) => [value, String(visits)]);
  const hidden = [message("en", "preview.other"), "7"];
  expect(Array.from(rows, ([, name, visits]) => [name, visits])).toEqual([
    ...told.slice(0, 8),
    hidden,
    ...told.slice(8),
  ]);
});

test.each([
  ["en", "Sum of daily visitors, last 2 days"],
  ["ja", "1日ごとの訪問者数の合計、過去2日間"],
  ["ko", "일별 방문자 합계, 최근 2일"],
])("visitors are said to be those of each day, added up (%s)", (language, name) => {
  expect(previewIn(language)).toMatch(new RegExp(`<dt>${name}</dt><dd[^>]*>2,543</dd>`));
});

test.each(LANGUAGES)("the row of values that are not shown is explained by its name (%s)", (language) => {
  expect(message(language, "preview.privacy.safe")).toContain(message(language, "preview.other"));
});

test("a page that tells all does not say that it hides something, and one that tells totals shows nothing else", () => {
  const [safe, all, count] = (["safe", "all", "count"] as const).map((shown) =>
    previewIn("en", { shown, visitors: shown === "all" ? 2543 : null }),
  );
  const hint = message("en", "preview.privacy.safe");
  expect(safe).toContain(hint);
  expect(safe).toContain(">fewer than 10</dd>");
  expect(all).not.toContain(hint);
  expect(count).not.toContain(hint);
  for (const shown of ["daily visitors", '<figure class="chart">']) {
    expect(safe).toContain(shown);
    expect(count).not.toContain(shown);
  }
  expect(count).toMatch(/data-fresh[^>]*>3,782</);
});
