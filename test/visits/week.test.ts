import { expect, test } from "bun:test";

import { DAY_MS, HOUR_MS } from "../../src/links/time.ts";
import type { DayStatistics } from "../../src/visits/statistics/day-reader.ts";
import { type Week, weekOf } from "../../src/visits/statistics/week.ts";
import { openZone } from "../../src/visits/statistics/zone.ts";

const dayOf = (date: string) => Date.parse(`${date}T00:00Z`) / DAY_MS;
const [MONDAY, SATURDAY, SUNDAY] = [0, 5 * 24, 6 * 24];

/** Days with these visits at these hours of UTC; `null` for a day whose hours are unknown. */
function days(visited: Readonly<Record<string, Readonly<Record<number, number>> | null>>): DayStatistics[] {
  const nothing = { bots: 0, visitors: 0, values: new Uint32Array(), others: [] };
  return Object.entries(visited).map(([date, hours]) => ({
    ...nothing,
    day: dayOf(date),
    visits: 0,
    hours:
      hours === null
        ? undefined
        : Uint32Array.from(Object.entries(hours).flatMap(([hour, visits]) => [Number(hour), visits, 9])),
  }));
}

function week(stored: readonly DayStatistics[], from: string, to: string, zone = "UTC"): Week | undefined {
  return weekOf(stored, { first: dayOf(from), last: dayOf(to) }, openZone(zone));
}

/** The counts that aren't 0. */
function visitsOf(result: Week | undefined): Record<number, number> {
  const hours = [...(result?.visits.entries() ?? [])];
  return Object.fromEntries(hours.filter(([, visits]) => visits > 0));
}

test("visits of the same weekday and hour are summed up without bots", () => {
  // The 9th and the 16th were Mondays.
  const stored = days({ "2026-11-09": { 0: 1, 23: 2 }, "2026-11-15": { 23: 4 }, "2026-11-16": { 0: 8 } });
  expect(visitsOf(week(stored, "2026-11-09", "2026-11-22"))).toEqual({
    [MONDAY]: 9,
    [MONDAY + 23]: 2,
    [SUNDAY + 23]: 4,
  });
});

test("only the last whole weeks of a range count", () => {
  const stored = days({
    "2026-11-09": { 5: 1 },
    "2026-11-10": { 5: 1 },
    "2026-11-22": { 5: 1 },
    "2026-11-23": { 5: 1 },
  });
  const result = week(stored, "2026-11-02", "2026-11-22");
  expect(result).toMatchObject({ from: "2026-11-02", to: "2026-11-22" });
  expect(week(stored, "2026-11-01", "2026-11-22")).toEqual(result);
  const later = week(stored, "2026-11-03", "2026-11-22");
  expect(later).toMatchObject({ from: "2026-11-09", to: "2026-11-22" });
  expect(visitsOf(later)).toEqual({ [MONDAY + 5]: 1, [24 + 5]: 1, [SUNDAY + 5]: 1 });
  expect(week(stored, "2026-11-17", "2026-11-22")).toBeUndefined();
});

test("days and hours follow the reader's time zone, even one with a half-hour offset", () => {
  const stored = days({ "2026-11-14": { 15: 1, 18: 2 }, "2026-11-15": { 14: 4, 15: 8 } });
  // The 8th to the 15th of UTC touch the week of Seoul from the 9th to the 15th.
  expect(visitsOf(week(stored, "2026-11-09", "2026-11-15", "Asia/Seoul"))).toEqual({
    [SUNDAY]: 1,
    [SUNDAY + 3]: 2,
    [SUNDAY + 23]: 4,
  });
  expect(visitsOf(week(stored, "2026-11-09", "2026-11-15", "Asia/Kolkata"))).toEqual({
    [SATURDAY + 20]: 1,
    [SATURDAY + 23]: 2,
    [SUNDAY + 19]: 4,
    [SUNDAY + 20]: 8,
  });
});

test("hours follow the local clocks before and after they change", () => {
  // New York's clocks go back on Sunday, 2026-11-01, from 2:00 to 1:00 (6:00 UTC).
  const stored = days({ "2026-10-31": { 13: 1 }, "2026-11-01": { 5: 2, 6: 4, 14: 8 } });
  expect(visitsOf(week(stored, "2026-10-26", "2026-11-01", "America/New_York"))).toEqual({
    [SATURDAY + 9]: 1,
    [SUNDAY + 1]: 6,
    [SUNDAY + 9]: 8,
  });
});

test("weeks up to the last day with unknown hours don't count", () => {
  const stored = days({ "2026-11-02": { 5: 1 }, "2026-11-04": null, "2026-11-20": { 5: 2 } });
  expect(week(stored, "2026-10-01", "2026-11-22")).toMatchObject({ from: "2026-11-09" });
  // In Seoul, half of that day is the 5th. Two whole weeks fit into the seventeen days that follow.
  for (const [to, from] of [
    ["2026-11-18", "2026-11-05"],
    ["2026-11-17", "2026-11-11"],
  ] as const)
    expect(week(stored, "2026-10-01", to)?.from).toBe(from);
  expect(week(stored, "2026-10-01", "2026-11-18", "Asia/Seoul")?.from).toBe("2026-11-12");
  expect(week(stored, "2026-10-01", "2026-11-10")).toBeUndefined();
});

test("every hour of a range is counted once in every time zone", () => {
  const hours = Object.fromEntries(Array.from({ length: 24 }, (_, hour) => [hour, 1]));
  const all = days(
    Object.fromEntries(
      Array.from({ length: 16 }, (_, nth) => [
        new Date(Date.UTC(2026, 10, 1) + nth * 24 * HOUR_MS).toISOString().slice(0, 10),
        hours,
      ]),
    ),
  );
  for (const zone of ["UTC", "Asia/Seoul", "Asia/Kathmandu", "Pacific/Chatham", "America/St_Johns"])
    expect(new Set(week(all, "2026-11-02", "2026-11-15", zone)?.visits)).toEqual(new Set([2]));
});
