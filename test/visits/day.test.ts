import { describe, expect, test } from "bun:test";

import * as fc from "fast-check";

import {
  closeDetail,
  type Day,
  createDay,
  MAX_DAY_VALUES,
  mergeDays,
  type SameVisits,
} from "../../src/visits/days/day.ts";
import { readDetail } from "../../src/visits/days/detail.ts";
import { DIMENSIONS } from "../../src/visits/days/dimensions.ts";

/** A visit of a person or a bot in an hour. */
interface Visit {
  readonly hour: number;
  /** Undefined for a bot. */
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
const anyVisit = fc.record({ hour: fc.nat({ max: 23 }), by: fc.option(person, { nil: undefined }) });
const manyVisits = fc.array(anyVisit, { minLength: 1, maxLength: 60 });

function dayOfOne({ hour, by }: Visit): Day {
  const counts =
    by === undefined ? { visits: 0, bots: 1, details: [] } : { visits: by.times, bots: 0, details: [by] };
  return createDay(counts, hour);
}

/** A process counts each hour as one part. */
function dayOfHour(visits: readonly Visit[], hour: number): Day {
  const details = visits.flatMap(({ by }) => by ?? []);
  const sum = details.reduce((all, { times }) => all + times, 0);
  return createDay({ visits: sum, bots: visits.length - details.length, details }, hour);
}

/** Without the order of values. */
function plain({ visits, bots, detail }: Day) {
  const day = readDetail(detail);
  for (const all of Object.values(day.values)) all.sort(([a], [b]) => (a < b ? -1 : 1));
  return { visits, bots, ...day };
}

describe("the parts of a day", () => {
  test("merge into the same day in any order and grouping", () => {
    fc.assert(
      fc.property(manyVisits, fc.nat(), fc.integer(), (visits, cut, seed) => {
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

  test("contain the same numbers as a plain count", () => {
    fc.assert(
      fc.property(manyVisits, (visits) => {
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

  test("merge into a closed day if one of them is closed", () => {
    fc.assert(
      fc.property(
        manyVisits,
        manyVisits,
        fc.boolean(),
        fc.boolean(),
        (some, more, isClosed, isOtherClosed) => {
          const aged = (visits: readonly Visit[], closes: boolean): Day => {
            const day = visits.map(dayOfOne).reduce(mergeDays);
            return closes ? { ...day, detail: closeDetail(day.detail) } : day;
          };
          const [one, two] = [aged(some, isClosed), aged(more, isOtherClosed)];
          const day = mergeDays(one, two);
          expect(plain(mergeDays(two, one))).toEqual(plain(day));
          if (isClosed || isOtherClosed) expect(closeDetail(day.detail)).toEqual(day.detail);
          expect(day).toMatchObject({ visits: one.visits + two.visits, bots: one.bots + two.bots });
          expect(Array.isArray(readDetail(day.detail).visitors)).toBe(!isClosed && !isOtherClosed);
        },
      ),
    );
  });
});

function hash(value: unknown, seed: number): bigint {
  return Bun.hash.wyhash(JSON.stringify(value), BigInt(seed >>> 0));
}

/** Sites of an hour, with the number of visits from each. */
type Part = readonly (readonly [site: string, times: number])[];

function dayOfSites(part: Part): Day {
  const details = part.map(([referrer, times], visitor): SameVisits => ({
    agent: { browser: `browser of ${referrer}`, os: "Linux", device: "desktop" },
    referrer,
    language: "ko",
    country: "KR",
    visitor,
    times,
  }));
  return createDay({ visits: sumOf(part), bots: 0, details }, 0);
}

const sumOf = (part: Part) => part.reduce((sum, [, times]) => sum + times, 0);
const sites = (name: string, length: number, times: number): Part =>
  Array.from({ length }, (_, nth) => [`${name}${nth}.example`, times]);
const oneByOne = (part: Part): Part[] => part.map((of) => [of]);
/** The published visits of a site, on the open day and on the closed one. */
function shownOf(day: Day, site: string): readonly number[] {
  return [day.detail, closeDetail(day.detail)].map(
    (detail) => readDetail(detail).values.referrers?.find(([text]) => text === site)?.[1] ?? 0,
  );
}

describe("a day with more values than it keeps", () => {
  const SITE = "blog.example";
  const fold = (parts: readonly Part[], day?: Day): Day =>
    [...(day ? [day] : []), ...parts.map(dayOfSites)].reduce(mergeDays);

  test("keeps a new site whose 50 visits come one per fold, minus the 10 of each site that it had", () => {
    const visits = Array.from({ length: 50 }, (): Part => [[SITE, 1]]);
    expect(shownOf(fold(visits, dayOfSites(sites("kept", MAX_DAY_VALUES, 10))), SITE)).toEqual([40, 40]);
  });

  test("accepts a new site after 200 forged ones", () => {
    const forged = [sites("forged", 200, 1), ...oneByOne(sites("forged", 200, 1))];
    for (const parts of [forged.slice(0, 1), forged.slice(1), forged]) {
      const visits = Array.from({ length: 5 }, (): Part => [[SITE, 1]]);
      expect(shownOf(fold(visits, fold(parts)), SITE)[0]).toBeGreaterThanOrEqual(3);
    }
  });

  test("publishes a single visit as one, although its value ranks above sites with 100 visits", () => {
    const popular = dayOfSites(sites("popular", MAX_DAY_VALUES, 100));
    const before = fold(oneByOne(sites("single", 150, 1)), popular);
    const day = fold([[[SITE, 1]], ...oneByOne(sites("later", 20, 1))], before);
    expect(readDetail(day.detail).dropped?.referrers?.inherited.get(SITE)).toBe(100);
    expect(shownOf(day, SITE)).toEqual([1, 1]);
  });

  const site = fc.oneof(
    { weight: 2, arbitrary: fc.nat({ max: 5 }) },
    { weight: 1, arbitrary: fc.nat({ max: 400 }) },
  );
  const part = fc.array(fc.tuple(site.map(String), fc.integer({ min: 1, max: 9 })), {
    minLength: 1,
    maxLength: 200,
    size: "max",
  });
  const parts = fc.array(fc.tuple(part, fc.nat()), { minLength: 1, maxLength: 30, size: "max" });

  test("loses no visit, publishes none too many, and keeps each value with over a hundredth of the visits", () => {
    fc.assert(
      fc.property(parts, (stream) => {
        // Merged in any grouping, as processes and stores do.
        const groups: Day[] = [];
        for (const [some, at] of stream) {
          const day = dayOfSites(some);
          const group = groups[at % 4];
          groups[group === undefined ? groups.length : at % 4] = group ? mergeDays(day, group) : day;
        }
        const day = groups.reduce(mergeDays);
        expect(plain(groups.reduce((all, group) => mergeDays(group, all)))).toEqual(plain(day));
        const truth = new Map<string, number>();
        for (const [text, times] of stream.flatMap(([some]) => some))
          truth.set(text, (truth.get(text) ?? 0) + times);
        const { values, others, dropped } = readDetail(day.detail);
        for (const dimension of DIMENSIONS) {
          const counts = values[dimension] ?? [];
          expect(counts.length).toBeLessThanOrEqual(MAX_DAY_VALUES);
          expect(sumOf(counts) + (others[dimension] ?? 0)).toBe(day.visits);
        }
        const shown = new Map(values.referrers);
        const { floor, inherited } = dropped?.referrers ?? { floor: 0, inherited: new Map() };
        expect(floor).toBeLessThanOrEqual(day.visits / MAX_DAY_VALUES);
        for (const [text, visits] of truth) {
          const own = shown.get(text);
          if (own === undefined) expect(visits).toBeLessThanOrEqual(floor);
          else expect(own).toBeLessThanOrEqual(visits);
          if (own !== undefined) expect(own + (inherited.get(text) ?? 0)).toBeGreaterThanOrEqual(visits);
        }
        const closed = readDetail(closeDetail(day.detail));
        expect(closed).toMatchObject({ values, others });
        expect(closed.dropped).toBeUndefined();
      }),
      // Shrinking such large examples takes minutes.
      { numRuns: 30, endOnFailure: true },
    );
  });
});
