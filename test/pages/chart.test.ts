import { describe, expect, test } from "bun:test";

import { Chart, ChartTable, scaleOf } from "../../src/pages/shared/charts/chart.tsx";
import { placesOf } from "../../src/pages/shared/charts/dates.ts";
import { write } from "../../src/pages/shared/html/jsx-runtime.ts";
import type { Interval } from "../../src/visits/statistics/series.ts";
import type { Statistics } from "../../src/visits/statistics/statistics.ts";

function draw(series: Statistics["series"], interval: Interval, language = "en"): string {
  return write(Chart({ language, series, interval, period: "period" }));
}

function rowsOf(series: Statistics["series"], interval: Interval, language: string): (string | undefined)[] {
  const table = write(ChartTable({ language, series, interval }));
  return [...table.matchAll(/<th scope="row">([^<]+)/g)].map(([, name]) => name);
}

const days = (count: number, visits = 1) =>
  Array.from({ length: count }, (_, nth) => ({
    start: new Date(Date.UTC(2026, 9, 1 + nth)).toISOString().slice(0, 10),
    visits,
    bots: 0,
  }));

test("one visit beside a thousand has a bar, none has no bar, and the table includes days with bots only", () => {
  const series = [
    { start: "2026-11-20", visits: 1, bots: 0 },
    { start: "2026-11-21", visits: 1000, bots: 0 },
    { start: "2026-11-22", visits: 0, bots: 3 },
    { start: "2026-11-23", visits: 0, bots: 0 },
  ];
  const drawn = draw(series, "day");
  const heights = [...drawn.matchAll(/<rect x="[^"]+" y="[^"]+" [^>]*height="([\d.]+)"/g)].map(([, height]) =>
    Number(height),
  );
  expect(heights).toEqual([2, 100]);
  expect([...drawn.matchAll(/<title>([^<]+)/g)].map(([, title]) => title)).toEqual([
    "Fri, Nov 20: 1 visit",
    "Sat, Nov 21: 1,000 visits",
    "Sun, Nov 22: 0 visits, 3 bot visits",
    "Mon, Nov 23: 0 visits",
  ]);
  expect(rowsOf(series, "day", "en")).toEqual(["Fri, Nov 20", "Sat, Nov 21", "Sun, Nov 22"]);
});

test("midnight is 0시 in Korean, so that nobody takes it for noon", () => {
  const series = [
    { start: "2026-11-21T00:00:00+09:00", visits: 1, bots: 0 },
    { start: "2026-11-21T13:00:00+09:00", visits: 1, bots: 0 },
  ];
  expect(rowsOf(series, "hour", "ko")).toEqual(["11월 21일 0시", "11월 21일 13시"]);
  expect(rowsOf(series, "hour", "en")).toEqual(["Nov 21, 12 AM", "Nov 21, 1 PM"]);
});

test("dates have their year if the chart spans two years", () => {
  expect(draw(days(93), "day")).toContain("<title>Jan 1, 2027: ");
  expect(draw(days(31), "day")).toContain("<title>Thu, Oct 1: ");
});

test("a scale has two to five round numbers, and its top is above all bars but less than twice as high", () => {
  for (let most = 0; most < 5000; most++) {
    const scale = scaleOf(most);
    expect(scale.length).toBeWithin(2, 6);
    expect(scale.at(-1)).toBe(0);
    expect(scale[0]).toBeGreaterThanOrEqual(most);
    // The bars use more than half of the height.
    if (most > 0) expect(most / (scale[0] ?? 0)).toBeGreaterThan(0.5);
    for (const line of scale) expect(String(line)).toMatch(/^\d{1,2}0*$/);
  }
  expect(scaleOf(160)).toEqual([200, 150, 100, 50, 0]);
  expect(scaleOf(69)).toEqual([80, 60, 40, 20, 0]);
  expect(scaleOf(100_000)).toEqual([100_000, 50_000, 0]);
  expect(draw(days(2, 100_000), "day", "ko")).toContain("<span>10만</span><span>5만</span><span>0</span>");
});

describe("the labels below a chart", () => {
  const narrow = { most: 3, room: 0.25 };

  test("start with the first bar, and leave room for each other", () => {
    for (const interval of ["day", "month"] as const)
      for (let count = 1; count <= 400; count++) {
        const places = placesOf(count, interval, [], narrow);
        expect(places[0]).toBe(0);
        expect(places.length).toBeWithin(1, 5);
        for (const [nth, place] of places.entries())
          expect(((places[nth + 1] ?? count) - place) / count).toBeGreaterThanOrEqual(0.25);
      }
  });

  test("are at round hours of the reader's clock", () => {
    const from = (first: number, count: number) =>
      Array.from({ length: count }, (_, nth) => (first + nth) % 24);
    expect(placesOf(24, "hour", from(19, 24), narrow)).toEqual([5, 17]);
    expect(placesOf(163, "hour", from(0, 163), narrow)).toEqual([0, 72]);
    expect(placesOf(2, "hour", from(9, 2), narrow)).toEqual([0, 1]);
  });

  test("show the date at midnight, and the hour at other times", () => {
    const series = Array.from({ length: 24 }, (_, nth) => ({
      start: new Date(Date.UTC(2026, 10, 21, 18 + nth)).toISOString().replace(".000Z", "+00:00"),
      visits: 1,
      bots: 0,
    }));
    const labels = [...draw(series, "hour").matchAll(/<text[^>]*?(?:class="(\w+)")?>([^<]+)/g)];
    expect(labels.map(([, on = "both", text]) => `${on}: ${text}`)).toEqual([
      "wide: 6 PM",
      "wide: 9 PM",
      "both: Nov 22",
      "wide: 3 AM",
      "wide: 6 AM",
      "wide: 9 AM",
      "both: 12 PM",
      "wide: 3 PM",
    ]);
  });
});
