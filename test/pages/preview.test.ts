import { expect, test } from "bun:test";

import { message } from "../../src/language/messages.ts";
import { NEVER_MS } from "../../src/links/link.ts";
import { previewPage } from "../../src/pages/preview.tsx";

const NONE = { values: [], other: 0 };
const REFERRERS = Array.from({ length: 50 }, (_, nth) => ({
  value: `host${nth}.example`,
  visits: 100 - nth,
}));

function previewIn(language: string): string {
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
    visits: 3782,
    bots: 0,
    interval: "day",
    timeZone: "UTC",
    statistics: {
      from: "2026-11-20",
      to: "2026-11-21",
      visits: 3782,
      bots: 0,
      visitors: 2543,
      series,
      breakdowns,
    },
  });
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
  ["ko", "일별 방문자 합계, 최근 2일"],
])("visitors are said to be those of each day, added up (%s)", (language, name) => {
  expect(previewIn(language)).toMatch(new RegExp(`<dt>${name}</dt><dd[^>]*>2,543</dd>`));
});

test.each(["en", "ko"])("the row of values that are not shown is explained by its name (%s)", (language) => {
  expect(message(language, "preview.privacy")).toContain(message(language, "preview.other"));
});
