import { expect, test } from "bun:test";

import * as fc from "fast-check";

import { openZone } from "../../src/visits/statistics/zone.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Zones with unusual clock changes; others are drawn from all that `Intl` knows. */
const UNUSUAL_ZONES = [
  "Pacific/Apia", // left out 2011-12-30
  "Australia/Lord_Howe", // changes by half an hour
  "Africa/Casablanca", // changes for Ramadan
  "America/St_Johns", // changed at 00:01
  "Asia/Kathmandu",
  "Antarctica/Troll",
  "asia/SEOUL",
  "+05:45",
  "UTC",
];
const ZONES = [...UNUSUAL_ZONES, ...Intl.supportedValuesOf("timeZone")];
const zones = fc.oneof(fc.constantFrom(...UNUSUAL_ZONES), fc.constantFrom(...ZONES));
/** From 1972, when the last zone gave up its seconds. */
const instants = fc.integer({ min: Date.UTC(1973, 0) / MINUTE_MS, max: Date.UTC(2045, 0) / MINUTE_MS });

/** Formats an instant with `Intl`. */
function formatWithIntl(timeZone: string, ms: number): string {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "longOffset",
  });
  const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, value]));
  const [year, month, day, hour, minute] = (["year", "month", "day", "hour", "minute"] as const).map((type) =>
    parts.get(type),
  );
  const offset = parts.get("timeZoneName")?.slice("GMT".length) || "+00:00";
  return `${year}-${month}-${day}T${hour}:${minute}:00${offset}`;
}

test("an instant is written as Intl formats it, in every zone and in any order of calls", () => {
  fc.assert(
    fc.property(zones, fc.array(instants, { minLength: 1, maxLength: 12 }), (timeZone, minutes) => {
      const zone = openZone(timeZone);
      for (const minute of minutes) {
        const ms = minute * MINUTE_MS;
        const expected = formatWithIntl(timeZone, ms);
        expect(zone.write(ms)).toBe(expected);
        expect(zone.dayOf(ms)).toBe(Date.parse(`${expected.slice(0, 10)}T00:00Z`) / DAY_MS);
      }
    }),
    { numRuns: 300 },
  );
});

test.each([
  ["Pacific/Apia", "2011-12-28T00:00Z", 96],
  ["Australia/Lord_Howe", "2026-04-03T00:00Z", 96],
  ["Africa/Casablanca", "2026-02-13T00:00Z", 24 * 45],
  ["America/New_York", "2026-03-07T00:00Z", 48],
])("every hour around a clock change in %s is written as Intl formats it", (timeZone, from, hours) => {
  const zone = openZone(timeZone);
  const instantsMs = Array.from({ length: hours }, (_, nth) => Date.parse(from) + nth * 60 * MINUTE_MS);
  const offsets = new Set<string>();
  for (const ms of instantsMs) {
    expect(zone.write(ms)).toBe(formatWithIntl(timeZone, ms));
    offsets.add(zone.write(ms).slice(-6));
  }
  expect(offsets.size).toBe(2);
});

test("every zone of Intl is written as Intl formats it", () => {
  const ms = Date.UTC(2026, 10, 21);
  for (const timeZone of ZONES) expect(openZone(timeZone).write(ms)).toBe(formatWithIntl(timeZone, ms));
});
