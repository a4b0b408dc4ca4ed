import { describe, expect, test } from "bun:test";

import * as fc from "fast-check";

import { closeDetail, createDay, mergeDays, type SameVisits } from "../../src/visits/days/day.ts";
import {
  type DayDetail,
  type Detail,
  readDetail,
  writeDetail,
  writeOneVisit,
} from "../../src/visits/days/detail.ts";
import { type Dimension, DIMENSIONS, NAMES } from "../../src/visits/days/dimensions.ts";

const hash = fc.oneof(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.constantFrom(0, 2 ** 31, 2 ** 32 - 1));
const count = fc.oneof(
  fc.integer({ min: 1, max: 300 }),
  fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
);
const sketchOf = (maxLength: number) =>
  fc.uniqueArray(hash, { maxLength }).map((hashes) => hashes.toSorted((a, b) => a - b));
/** Known names, and any text of a request or an earlier version. */
const nameOf = (dimension: Dimension) =>
  fc.oneof(
    fc.constantFrom(...NAMES[dimension]),
    fc.constantFrom(
      "__proto__",
      "constructor",
      "한글.example",
      'quote".example',
      "a\tb\nc",
      "\0",
      "x".repeat(253),
    ),
    fc.string({ unit: "grapheme" }).map((text) => text.toWellFormed()),
  );
const valuesOf = (dimension: Dimension) =>
  fc.uniqueArray(fc.tuple(nameOf(dimension), count), {
    minLength: 1,
    maxLength: 50,
    selector: ([text]) => text,
  });
const byDimension = <T>(arbitraryOf: (dimension: Dimension) => fc.Arbitrary<T>) =>
  fc.record(Object.fromEntries(DIMENSIONS.map((dimension) => [dimension, arbitraryOf(dimension)])), {
    requiredKeys: [],
  });
const hour = fc.nat({ max: 23 });
const withoutDropped = fc.record(
  {
    hours: fc.dictionary(hour.map(String), fc.tuple(fc.nat(), fc.nat())),
    visitors: fc.oneof(sketchOf(256), fc.nat(), fc.constant(Number.MAX_SAFE_INTEGER / 2 - 0.5)),
    values: byDimension(valuesOf),
    others: byDimension(() => count),
    unreadable: fc.array(fc.uint8Array(), { minLength: 1, maxLength: 3 }),
  },
  { requiredKeys: ["visitors", "values", "others"] },
) as fc.Arbitrary<unknown> as fc.Arbitrary<DayDetail>;
/** With dropped values in some dimensions, or in none. */
const detail = fc.tuple(withoutDropped, fc.array(count)).map(([day, floors]): DayDetail => {
  const entries = Object.entries(day.values).flatMap(([dimension, values], nth) => {
    const floor = floors[nth];
    const inherited = new Map(values.map(([text, visits]) => [text, visits % 1000]));
    return floor === undefined ? [] : [[dimension, { floor, inherited }] as const];
  });
  return entries.length === 0 ? day : { ...day, dropped: Object.fromEntries(entries) };
});

const visit: fc.Arbitrary<SameVisits> = fc.record({
  agent: fc.record({
    browser: nameOf("browsers"),
    os: nameOf("operating_systems"),
    device: nameOf("devices"),
  }),
  referrer: nameOf("referrers"),
  language: nameOf("languages"),
  country: nameOf("countries"),
  visitor: hash,
  times: fc.constant(1),
});
const VISIT: SameVisits = {
  agent: { browser: "Chrome", os: "Android", device: "phone" },
  referrer: "google.com",
  language: "ko",
  country: "KR",
  visitor: 7,
  times: 1,
};
const dayOfVisit = fc
  .tuple(visit, hour)
  .map(([one, ofDay]) => createDay({ visits: 1, bots: 0, details: [one] }, ofDay));

/** Without the fields that JSON omits. */
const plain = (day: DayDetail) =>
  JSON.parse(
    JSON.stringify(day, (_, value: unknown) => (value instanceof Map ? [...value] : value)),
  ) as unknown;

/** Expects a detail to be set aside, also when its day is closed and when another detail is merged with it. */
function expectUnreadable(bytes: Uint8Array): void {
  const unreadable = bytes as Detail;
  const expected = { visitors: 0, values: {}, others: {}, unreadable: [bytes] };
  expect(readDetail(unreadable)).toEqual(expected);
  const added = createDay({ visits: 1, bots: 0, details: [VISIT] }, 13);
  const merged = readDetail(mergeDays({ visits: 1, bots: 0, detail: unreadable }, added).detail);
  const { values } = readDetail(added.detail);
  expect(merged).toEqual({ visitors: 1, values, others: {}, unreadable: [bytes] });
}

describe("the detail of a day", () => {
  test("is unchanged after writing and reading", () => {
    fc.assert(
      fc.property(detail, (day) => {
        expect(plain(readDetail(writeDetail(day)))).toEqual(plain(day));
        expect(writeDetail(readDetail(writeDetail(day)))).toEqual(writeDetail(day));
      }),
    );
  });

  test("with fewer dimensions is read, merged and closed; its visits have no values of later dimensions", () => {
    const one = createDay({ visits: 1, bots: 0, details: [VISIT] }, 13);
    const { languages: _, ...five } = readDetail(one.detail).values;
    const texts = ["google.com", "KR", "Chrome", "Android", "phone"];
    const ofOneVisit = writeOneVisit({ hour: 13, visitor: 7, texts });
    // Hours, the visitor, and five dimensions.
    const ofDay = Uint8Array.fromHex(`2180400100020700000005${"020201".repeat(5)}`) as Detail;
    for (const row of [ofOneVisit, ofDay]) {
      expect(readDetail(row)).toEqual({ hours: { 13: [1, 0] }, visitors: [7], values: five, others: {} });
      expect(readDetail(closeDetail(row))).toMatchObject({ visitors: 1, values: five });
      for (const old of [row, closeDetail(row)]) {
        const { values, others } = readDetail(mergeDays({ visits: 1, bots: 0, detail: old }, one).detail);
        expect(values).toMatchObject({ countries: [["KR", 2]], languages: [["ko", 1]] });
        expect(others).toEqual({});
      }
    }
    expectUnreadable(Uint8Array.fromHex("8d0702020202020202"));
  });

  test("of one visit is equivalent in its short and long form", () => {
    fc.assert(
      fc.property(dayOfVisit, dayOfVisit, (one, other) => {
        const long = { ...one, detail: writeDetail(readDetail(one.detail)) };
        expect(long.detail).not.toEqual(one.detail);
        expect(readDetail(long.detail)).toEqual(readDetail(one.detail));
        expect(readDetail(closeDetail(one.detail))).toEqual(readDetail(closeDetail(long.detail)));
        expect(closeDetail(closeDetail(one.detail))).toEqual(closeDetail(one.detail));
        expect(mergeDays(one, other)).toEqual(mergeDays(long, other));
        const [closed, longClosed] = [one, long].map((day) => ({ ...day, detail: closeDetail(day.detail) }));
        expect(closed && mergeDays(closed, other)).toEqual(longClosed && mergeDays(longClosed, other));
      }),
    );
  });

  test("of one visit with usual values takes 12 bytes, and 8 without the visitor once it is closed", () => {
    const { detail: open } = createDay(
      { visits: 1, bots: 0, details: [{ ...VISIT, visitor: 0xfedc_ba98 }] },
      13,
    );
    expect(open.toHex()).toBe("4d98badcfe06020202020202");
    expect(closeDetail(open).toHex()).toBe("8d06020202020202");
  });

  test("is set aside if it is damaged or cut", () => {
    expectUnreadable(new Uint8Array());
    // More visitors, dimensions or values than there are bytes; no hour; a number that is too large.
    for (const hex of [
      "20feffffffffff1f",
      "2000ffffffffffff1f",
      "200006feffffffffff1f",
      "ff",
      "4d00",
      "8006ffff01",
      "9800",
      "2100ffffffffffffff1f00",
    ])
      expectUnreadable(Uint8Array.fromHex(hex));
    fc.assert(
      fc.property(detail, fc.nat(), (day, cut) => {
        const whole = writeDetail(day);
        const cutOff = whole.subarray(0, cut % whole.length) as Detail;
        expectUnreadable(cutOff);
      }),
    );
  });
});

test("known names keep their indexes, which rows refer to", () => {
  // Values added at the end of a list are also added here.
  const lengths = {
    referrers: 126,
    countries: 142,
    browsers: 58,
    operating_systems: 21,
    devices: 6,
    languages: 78,
  };
  const lists = DIMENSIONS.map((dimension) => NAMES[dimension].slice(0, lengths[dimension]));
  expect(lists.map((list) => list.length)).toEqual(Object.values(lengths));
  expect(Bun.hash.crc32(JSON.stringify(lists))).toBe(631_387_237);
  for (const dimension of DIMENSIONS) {
    expect(new Set(NAMES[dimension]).size).toBe(NAMES[dimension].length);
    expect(NAMES[dimension][0]).toBe("");
  }
});
