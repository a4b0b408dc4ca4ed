import { expect, test } from "bun:test";

import * as fc from "fast-check";

import { parseInstant, parseWhen } from "../../src/links/time.ts";

test("parseInstant reads RFC 3339 with any offset and fraction", () => {
  const noon = Date.UTC(2027, 0, 31, 12);
  const spellings = `2027-01-31T12:00:00Z 2027-01-31t12:00:00z 2027-01-31T12:00:00.000000000Z
      2027-01-31T21:00:00+09:00 2027-01-31T06:30:00-05:30 2027-01-31T12:00:00-00:00
      2027-02-01T11:59:00+23:59`.split(/\s+/);
  for (const input of spellings) expect(parseInstant(input), input).toEqual(noon);
  expect(parseInstant("2027-01-31T12:00:00.1239Z")).toBe(noon + 123);
  expect(parseInstant("2028-02-29T00:00:00Z")).toBe(Date.UTC(2028, 1, 29));
  expect(parseInstant("9999-12-31T23:59:59Z")).toBe(Date.UTC(9999, 11, 31, 23, 59, 59));
});

test("parseWhen refuses other formats and dates that don't exist", () => {
  const formats = `2027-01-31 2027-01-31T12:00Z 2027-01-31T12:00:00 2027-1-31T12:00:00Z 2027-02-30T00:00:00Z
      2027-13-01T00:00:00Z 2027-01-00T00:00:00Z 2027-01-31T24:00:00Z 2027-01-31T12:60:00Z
      2027-06-30T23:59:60Z 2027-01-31T12:00:00.Z 2027-01-31T12:00:00+24:00 2027-01-31T12:00:00+09:60
      2027-01-31T12:00:00+0900 +002027-01-31T12:00:00Z ٢027-01-31T12:00:00Z
      1801396800000 never 1day`.split(/\s+/);
  for (const input of [
    ...formats,
    "",
    "2027-01-31 12:00:00Z",
    " 2027-01-31T12:00:00Z",
    "2027-01-31T12:00:00Z\n",
  ])
    expect(parseWhen(input), input).toEqual(undefined);
});

test("parseInstant reads every instant of toISOString in every offset", () => {
  const within = fc.integer({ min: 86_400_000, max: Date.UTC(9999, 11, 30) });
  const offset = fc.integer({ min: 0, max: 23 * 60 + 59 });
  fc.assert(
    fc.property(within, offset, fc.boolean(), (ms, minutes, isEast) => {
      const local = new Date(ms + (isEast ? minutes : -minutes) * 60_000).toISOString().slice(0, -1);
      const two = (number: number) => String(number).padStart(2, "0");
      const zone = `${isEast ? "+" : "-"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
      expect(parseInstant(local + zone)).toBe(ms);
    }),
  );
});

test("parseWhen returns durations unchanged", () => {
  for (const duration of ["24h", "48h", "1week", "1month"] as const)
    expect(parseWhen(duration)).toBe(duration);
});
