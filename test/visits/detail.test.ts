import { describe, expect, test } from "bun:test";

import * as fc from "fast-check";

import { close, dayOf, merge, type SameVisits } from "../../src/visits/day.ts";
import { type DayDetail, type Detail, readDetail, writeDetail } from "../../src/visits/detail.ts";
import { type Dimension, DIMENSIONS, NAMES } from "../../src/visits/dimensions.ts";

const hash = fc.oneof(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.constantFrom(0, 2 ** 31, 2 ** 32 - 1));
const count = fc.oneof(
  fc.integer({ min: 1, max: 300 }),
  fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
);
const sketchOf = (maxLength: number) =>
  fc.uniqueArray(hash, { maxLength }).map((hashes) => hashes.toSorted((a, b) => a - b));
const networks = fc.oneof(sketchOf(4), fc.nat({ max: 4 }), fc.constant(undefined));
/** Names that are in a list, and whatever else a request or an earlier version may have brought. */
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
  fc
    .uniqueArray(fc.tuple(nameOf(dimension), count, networks), {
      minLength: 1,
      maxLength: 50,
      selector: ([text]) => text,
    })
    .map((values) =>
      values.map(([text, visits, some]) => (some === undefined ? [text, visits] : [text, visits, some])),
    );
const byDimension = <T>(arbitraryOf: (dimension: Dimension) => fc.Arbitrary<T>) =>
  fc.record(Object.fromEntries(DIMENSIONS.map((dimension) => [dimension, arbitraryOf(dimension)])), {
    requiredKeys: [],
  });
const parts = {
  visitors: fc.oneof(sketchOf(256), fc.nat(), fc.constant(Number.MAX_SAFE_INTEGER / 2 - 0.5)),
  networks,
  values: byDimension(valuesOf),
  others: byDimension(() => count),
};
const hour = fc.nat({ max: 23 });
const hours = fc.dictionary(hour.map(String), fc.tuple(fc.nat(), fc.nat()));
const detail = fc.record(
  { ...parts, hours, last: fc.record({ ...parts, hour }) },
  { requiredKeys: ["visitors", "values", "others"] },
) as fc.Arbitrary<unknown> as fc.Arbitrary<DayDetail>;

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
  network: hash,
  times: fc.constant(1),
});
const dayOfVisit = fc
  .tuple(visit, hour)
  .map(([one, ofDay]) => dayOf({ visits: 1, bots: 0, details: [one] }, ofDay));

/** As earlier versions wrote it. */
const asJson = (day: DayDetail) => Buffer.from(JSON.stringify(day)) as Uint8Array as Detail;

/** Without what JSON leaves out too. */
const plain = (day: DayDetail) => JSON.parse(JSON.stringify(day)) as unknown;

describe("the detail of a day", () => {
  test("is read as it was written", () => {
    fc.assert(
      fc.property(detail, (day) => {
        expect(plain(readDetail(writeDetail(day)))).toEqual(plain(day));
        expect(writeDetail(readDetail(writeDetail(day)))).toEqual(writeDetail(day));
      }),
    );
  });

  test("of an earlier version is read, merged and closed like a new one", () => {
    fc.assert(
      fc.property(dayOfVisit, dayOfVisit, (one, other) => {
        const old = { ...one, detail: asJson(readDetail(one.detail)) };
        expect(readDetail(old.detail)).toEqual(readDetail(one.detail));
        expect(merge(old, other)).toEqual(merge(one, other));
        expect(merge(other, old)).toEqual(merge(other, one));
        expect(readDetail(close(old.detail))).toEqual(readDetail(close(one.detail)));
      }),
    );
  });

  test("of one visit says the same in its short form as in the long one", () => {
    fc.assert(
      fc.property(dayOfVisit, dayOfVisit, (one, other) => {
        const long = { ...one, detail: writeDetail(readDetail(one.detail)) };
        expect(long.detail).not.toEqual(one.detail);
        expect(readDetail(long.detail)).toEqual(readDetail(one.detail));
        expect(readDetail(close(one.detail))).toEqual(readDetail(close(long.detail)));
        expect(close(close(one.detail))).toEqual(close(one.detail));
        expect(merge(one, other)).toEqual(merge(long, other));
        const [closed, longClosed] = [one, long].map((day) => ({ ...day, detail: close(day.detail) }));
        expect(closed && merge(closed, other)).toEqual(longClosed && merge(longClosed, other));
      }),
    );
  });

  test("of one visit with usual values takes 15 bytes, and 7 once it is closed, with nothing of the visitor", () => {
    const { detail: open } = dayOf(
      {
        visits: 1,
        bots: 0,
        details: [
          {
            agent: { browser: "Chrome", os: "Android", device: "phone" },
            referrer: "google.com",
            language: "ko",
            country: "KR",
            visitor: 0xfedc_ba98,
            network: 0x7654_3210,
            times: 1,
          },
        ],
      },
      13,
    );
    expect(open.toHex()).toBe("4d98badcfe10325476020202020202");
    expect(close(open).toHex()).toBe("8d020202020202");
  });

  test("that is damaged is refused, and never read for long", () => {
    expect(() => readDetail(new Uint8Array() as Detail)).toThrow(RangeError);
    // So many visitors, networks or values that the bytes do not have.
    for (const hex of [
      "22feffffffffff1f",
      "2200ffffffffffff1f",
      "220000feffffffffff1f",
      "ff",
      "4d00",
      "80ffff01",
    ])
      expect(() => readDetail(Uint8Array.fromHex(hex) as Detail)).toThrow();
    fc.assert(
      fc.property(detail, fc.nat(), (day, cut) => {
        const whole = writeDetail(day);
        const cutOff = whole.subarray(0, cut % whole.length) as Detail;
        expect(() => readDetail(cutOff)).toThrow(RangeError);
      }),
    );
  });
});

test("a name keeps its place, because rows refer to it", () => {
  // What is added at the end of a list is added here too.
  const known = {
    referrers: 126,
    countries: 142,
    browsers: 58,
    operating_systems: 21,
    devices: 6,
    languages: 78,
  };
  const lists = DIMENSIONS.map((dimension) => NAMES[dimension].slice(0, known[dimension]));
  expect(lists.map((list) => list.length)).toEqual(Object.values(known));
  expect(Bun.hash.crc32(JSON.stringify(lists))).toBe(631_387_237);
  for (const dimension of DIMENSIONS) {
    expect(new Set(NAMES[dimension]).size).toBe(NAMES[dimension].length);
    expect(NAMES[dimension][0]).toBe("");
  }
});
