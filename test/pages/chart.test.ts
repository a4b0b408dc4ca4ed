import { expect, test } from "bun:test";

import { Chart } from "../../src/pages/chart.tsx";
import { CURT } from "../../src/pages/identity.ts";
import { page } from "../../src/pages/layout.tsx";

test("one visit beside a thousand is a bar, none is not, and the table has the days of bots as well", () => {
  const series = [
    { start: "2026-11-20", visits: 1, bots: 0 },
    { start: "2026-11-21", visits: 1000, bots: 0 },
    { start: "2026-11-22", visits: 0, bots: 3 },
    { start: "2026-11-23", visits: 0, bots: 0 },
  ];
  const chart = Chart({ language: "en", series, interval: "day" });
  const drawn = page("en", { title: "" }, chart)(CURT);
  const heights = [...drawn.matchAll(/<rect [^>]*height="([\d.]+)"/g)].map(([, height]) => Number(height));
  expect(heights).toEqual([2, 100]);
  expect([...drawn.matchAll(/<th scope="row">([^<]+)/g)].map(([, day]) => day)).toEqual([
    "Nov 20",
    "Nov 21",
    "Nov 22",
  ]);
});

test("Koreans read midnight as 0시, which cannot be taken for noon", () => {
  const series = [
    { start: "2026-11-21T00:00:00+09:00", visits: 1, bots: 0 },
    { start: "2026-11-21T13:00:00+09:00", visits: 1, bots: 0 },
  ];
  const hours = (language: string) => {
    const chart = Chart({ language, series, interval: "hour" });
    const drawn = page(language, { title: "" }, chart)(CURT);
    return [...drawn.matchAll(/<th scope="row">([^<]+)/g)].map(([, hour]) => hour);
  };
  expect(hours("ko")).toEqual(["11월 21일 0시", "11월 21일 13시"]);
  expect(hours("en")).toEqual(["Nov 21, 12 AM", "Nov 21, 1 PM"]);
});
