import { expect, test } from "bun:test";

import { NEVER_MS, DAY_MS, HOUR_MS } from "../../src/links/time.ts";
import { type RangeQuery, chooseRange, type RangeLimits, seriesIn } from "../../src/pages/preview/ranges.ts";
import { INTERVALS } from "../../src/visits/statistics/series.ts";
import { MAX_DAYS } from "../../src/visits/statistics/statistics.ts";

/** A Sunday. */
const NOW_MS = Date.UTC(2026, 10, 22, 9, 30);

function choose(ageMs: number, query: RangeQuery = {}, limits: Partial<RangeLimits> = {}) {
  return chooseRange(query, {
    createdMs: NOW_MS - ageMs,
    endsMs: NEVER_MS,
    nowMs: NOW_MS,
    keepDays: 400,
    timeZone: "UTC",
    ...limits,
  });
}

const hours = (firstMs: number, count: number) =>
  Array.from({ length: count }, (_, nth) => ({
    start: new Date(firstMs + nth * HOUR_MS).toISOString(),
    visits: 1,
    bots: 0,
  }));

test("a link of three days shows a week, and offers only ranges that it fills", () => {
  const { name, names, request, intervals } = choose(3 * DAY_MS);
  expect([name, names]).toEqual(["all", ["24h", "all"]]);
  expect(request).toMatchObject({ from: "2026-11-16", to: "2026-11-22", interval: "day" });
  expect(intervals).toEqual(["hour", "day"]);
  expect(choose(3 * DAY_MS, { range: "30d" })).toEqual(choose(3 * DAY_MS, { range: "all" }));
});

test("an old link shows 30 days, and offers other ranges", () => {
  const { name, names, request } = choose(365 * DAY_MS);
  expect([name, names]).toEqual(["30d", ["24h", "7d", "30d", "90d", "all"]]);
  expect(request).toMatchObject({ from: "2026-10-24", to: "2026-11-22", interval: "day" });
  for (const [range, from, interval, intervals] of [
    ["24h", "2026-11-21", "hour", ["hour"]],
    ["7d", "2026-11-16", "day", ["hour", "day"]],
    ["30d", "2026-10-24", "day", ["day"]],
    ["90d", "2026-08-25", "day", ["day", "month"]],
    ["all", "2025-11-22", "month", ["day", "month"]],
  ] as const) {
    const shown = choose(365 * DAY_MS, { range });
    expect(shown).toMatchObject({ name: range, intervals, request: { from, to: "2026-11-22", interval } });
    for (const by of intervals) expect(choose(365 * DAY_MS, { range, by }).interval).toBe(by);
  }
});

test("an unknown range or an unavailable interval is replaced by the default", () => {
  for (const range of ["", "7", "7D", "-1d", "9999d", "constructor", "__proto__", "a".repeat(10_000)])
    expect(choose(365 * DAY_MS, { range, by: range })).toEqual(choose(365 * DAY_MS));
  expect(choose(365 * DAY_MS, { range: "90d", by: "hour" }).interval).toBe("day");
  expect(choose(365 * DAY_MS, { range: "24h", by: "month" }).interval).toBe("hour");
});

test("no range is longer than the statistics of its interval may be", () => {
  for (const age of [0, 1, 30, 61, 399, 400, 401, 5000])
    for (const keepDays of [8, 400, 3650])
      for (const range of ["24h", "7d", "30d", "90d", "all"])
        for (const by of INTERVALS) {
          const shown = choose(age * DAY_MS, { range, by }, { keepDays });
          const { from, to, interval } = shown.request;
          const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
          expect(days).toBeWithin(1, MAX_DAYS[interval] + 1);
          expect(shown.intervals).toContain(shown.interval);
          expect(shown.names).toContain(shown.name);
        }
});

test("the range of a link older than the kept statistics names their first day", () => {
  expect(choose(399 * DAY_MS, { range: "all" }).keptFrom).toBeUndefined();
  const old = choose(430 * DAY_MS, { range: "all" });
  expect([old.keptFrom, old.request.from]).toEqual(["2025-10-19", "2025-10-19"]);
  expect(choose(430 * DAY_MS).keptFrom).toBeUndefined();
  const short = choose(430 * DAY_MS, {}, { keepDays: 8 });
  expect([short.name, short.names, short.keptFrom]).toEqual(["all", ["24h", "7d", "all"], "2026-11-15"]);
});

test("days are those of the reader's time zone", () => {
  const to = (timeZone: string) => choose(10 * DAY_MS, {}, { timeZone, nowMs: NOW_MS }).request.to;
  expect(["Pacific/Honolulu", "Asia/Seoul", "Pacific/Kiritimati"].map(to)).toEqual([
    "2026-11-21",
    "2026-11-22",
    "2026-11-22",
  ]);
});

test("the ranges of an ended link end with it", () => {
  const ended = choose(60 * DAY_MS, { range: "7d" }, { endsMs: NOW_MS - 20 * DAY_MS });
  expect(ended.request).toMatchObject({ from: "2026-10-27", to: "2026-11-02" });
  const longAgo = choose(900 * DAY_MS, {}, { endsMs: NOW_MS - 500 * DAY_MS });
  expect(longAgo.request.from).toBe(longAgo.request.to);
  // The clock of the process that created it may be ahead.
  expect(choose(-DAY_MS).request).toMatchObject({ from: "2026-11-21", to: "2026-11-22" });
});

test("hours end with the current one, and start with the link's creation after its first day", () => {
  const yesterday = hours(Date.UTC(2026, 10, 21), 48);
  const since = seriesIn(choose(30 * HOUR_MS), yesterday);
  expect([since.length, since[0]?.start, since.at(-1)?.start]).toEqual([
    31,
    "2026-11-21T03:00:00.000Z",
    "2026-11-22T09:00:00.000Z",
  ]);
  for (const last of [choose(2 * HOUR_MS), choose(9 * DAY_MS, { range: "24h" })].map((range) =>
    seriesIn(range, yesterday),
  ))
    expect([last.length, last[0]?.start, last.at(-1)?.start]).toEqual([
      24,
      "2026-11-21T10:00:00.000Z",
      "2026-11-22T09:00:00.000Z",
    ]);
  expect(seriesIn(choose(9 * DAY_MS, { range: "24h" }), [])).toEqual([]);
});
