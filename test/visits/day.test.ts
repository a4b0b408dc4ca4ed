import { describe, expect, test } from "bun:test";

import * as fc from "fast-check";

import {
  closeDetail,
  type Day,
  createDay,
  MAX_DAY_VALUES,
  mergeDays,
  type SameVisits,
} from "../../src/visits/day.ts";
import { readDetail } from "../../src/visits/detail.ts";
import { DIMENSIONS } from "../../src/visits/dimensions.ts";

/** A visit, as a person or a bot made it, in an hour. */
interface Told {
  readonly hour: number;
  /** Undefined where a bot made it. */
  readonly by: SameVisits | undefined;
}

/** Few values of each kind, so that they meet. */
const person = fc.record({
  agent: fc.record({
    browser: fc.constantFrom("Chrome", "Safari", ""),
    os: fc.constantFrom("Windows", "iOS"),
    device: fc.constantFrom("desktop", "mobile"),
  }),
  referrer: fc.constantFrom("", "naver.com", "한글.example", 'quote".example', "__proto__"),
  language: fc.constantFrom("ko", "en"),
  country: fc.constantFrom("KR", "JP", ""),
  visitor: fc.nat({ max: 30 }).map((nth) => Math.imul(nth + 1, 0x9e37_79b1) >>> 0),
  times: fc.integer({ min: 1, max: 3 }),
});
const told = fc.record({ hour: fc.nat({ max: 23 }), by: fc.option(person, { nil: undefined }) });
const manyTold = fc.array(told, { minLength: 1, maxLength: 60 });

function dayOfOne({ hour, by }: Told): Day {
  const counted =
    by === undefined ? { visits: 0, bots: 1, details: [] } : { visits: by.times, bots: 0, details: [by] };
  return createDay(counted, hour);
}

/** As a process counts: what came in one hour is one part. */
function dayOfHour(visits: readonly Told[], hour: number): Day {
  const details = visits.flatMap(({ by }) => by ?? []);
  const sum = details.reduce((all, { times }) => all + times, 0);
  return createDay({ visits: sum, bots: visits.length - details.length, details }, hour);
}

/** Without the order in which values came. */
function plain({ visits, bots, detail }: Day) {
  const day = readDetail(detail);
  for (const all of Object.values(day.values)) all.sort(([a], [b]) => (a < b ? -1 : 1));
  return { visits, bots, ...day };
}

describe("the parts of a day", () => {
  test("make the same day as its visits one by one, in whatever order and groups they are merged", () => {
    fc.assert(
      fc.property(manyTold, fc.nat(), fc.integer(), (visits, cut, seed) => {
        const one = visits.map(dayOfOne).reduce(mergeDays);
        const byHour = Map.groupBy(visits, ({ hour }) => hour);
        const hours = [...byHour].map(([hour, all]) => dayOfHour(all, hour));
        expect(plain(hours.reduce(mergeDays))).toEqual(plain(one));
        expect(plain(hours.reduceRight((all, part) => mergeDays(part, all)))).toEqual(plain(one));
        const shuffled = visits.toSorted((a, b) => (hash(a, seed) < hash(b, seed) ? -1 : 1));
        const at = (cut % visits.length) + 1;
        const halves = [shuffled.slice(0, at), shuffled.slice(at)].filter((half) => half.length > 0);
        expect(plain(halves.map((half) => half.map(dayOfOne).reduce(mergeDays)).reduce(mergeDays))).toEqual(
          plain(one),
        );
      }),
    );
  });

  test("are what a plain count says", () => {
    fc.assert(
      fc.property(manyTold, (visits) => {
        const day = visits.map(dayOfOne).reduce(mergeDays);
        const people = visits.flatMap(({ by }) => by ?? []);
        const sum = (some: readonly SameVisits[]) => some.reduce((all, { times }) => all + times, 0);
        const { hours, visitors, values, others } = readDetail(day.detail);
        expect(day).toMatchObject({ visits: sum(people), bots: visits.length - people.length });
        for (const [hour, all] of Map.groupBy(visits, (visit) => visit.hour)) {
          const ofHour = all.flatMap(({ by }) => by ?? []);
          expect(hours?.[hour]).toEqual([sum(ofHour), all.length - ofHour.length]);
        }
        expect(visitors).toEqual(
          [...new Set(people.map(({ visitor }) => visitor))].toSorted((a, b) => a - b),
        );
        for (const [country, some] of Map.groupBy(people, (by) => by.country)) {
          const value = values.countries?.find(([text]) => text === country);
          expect(value).toEqual([country, sum(some)]);
        }
        expect(others).toEqual({});
      }),
    );
  });

  test("lose no visit where there are more values than are kept", () => {
    const visit = (nth: number, times: number): SameVisits => ({
      agent: { browser: `browser ${nth}`, os: "Linux", device: "desktop" },
      referrer: `site${nth}.example`,
      language: "ko",
      country: "KR",
      visitor: nth,
      times,
    });
    const visitOf = fc.tuple(fc.nat({ max: 300 }), fc.integer({ min: 1, max: 9 }));
    const numbers = fc.array(visitOf, { minLength: 1, maxLength: 200, size: "max" });
    fc.assert(
      fc.property(fc.array(numbers, { minLength: 1, maxLength: 5 }), (parts) => {
        const days = parts.map((part) => {
          const details = part.map(([nth, times]) => visit(nth, times));
          return createDay(
            { visits: details.reduce((all, { times }) => all + times, 0), bots: 0, details },
            0,
          );
        });
        const day = days.reduce(mergeDays);
        const { values, others } = readDetail(day.detail);
        for (const dimension of DIMENSIONS) {
          const kept = values[dimension] ?? [];
          expect(kept.length).toBeLessThanOrEqual(MAX_DAY_VALUES);
          const all = kept.reduce((sum, [, visits]) => sum + visits, others[dimension] ?? 0);
          expect(all).toBe(day.visits);
        }
      }),
    );
  });

  test("age together: what one part has forgotten does not come back with another", () => {
    fc.assert(
      fc.property(manyTold, manyTold, fc.boolean(), fc.boolean(), (some, more, isClosed, isOtherClosed) => {
        const aged = (visits: readonly Told[], closes: boolean): Day => {
          const day = visits.map(dayOfOne).reduce(mergeDays);
          return closes ? { ...day, detail: closeDetail(day.detail) } : day;
        };
        const [one, two] = [aged(some, isClosed), aged(more, isOtherClosed)];
        const day = mergeDays(one, two);
        expect(plain(mergeDays(two, one))).toEqual(plain(day));
        if (isClosed || isOtherClosed) expect(closeDetail(day.detail)).toEqual(day.detail);
        expect(day).toMatchObject({ visits: one.visits + two.visits, bots: one.bots + two.bots });
        expect(Array.isArray(readDetail(day.detail).visitors)).toBe(!isClosed && !isOtherClosed);
      }),
    );
  });
});

function hash(value: unknown, seed: number): bigint {
  return Bun.hash.wyhash(JSON.stringify(value), BigInt(seed >>> 0));
}
