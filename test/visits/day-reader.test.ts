import { expect, test } from "bun:test";
import { join } from "node:path";

import * as fc from "fast-check";

import type { NewLink } from "../../src/links/link-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { VisitStore } from "../../src/visits/days/visit-store.ts";
import { createNoise } from "../../src/visits/statistics/noise.ts";
import { INTERVALS } from "../../src/visits/statistics/series.ts";
import { createStatistics } from "../../src/visits/statistics/statistics.ts";
import { newLink } from "../stores/links.ts";
import { temporaryFolder } from "../support/service.ts";
import { slicesOf, type TestVisit } from "./slices.ts";

const HOUR_MS = 3_600_000;
const noise = createNoise("a key");
const START_HOUR = Date.UTC(2026, 9, 1) / HOUR_MS;

const visit: fc.Arbitrary<Partial<TestVisit>> = fc.record({
  bot: fc.boolean(),
  visitor: fc.nat(20),
  referrer: fc.constantFrom("", "a.example", "b.example", "c.example"),
});
/** Some hours pass, visits arrive, perhaps late, and days may be closed or deleted. */
const step = fc.record({
  hours: fc.constantFrom(0, 0, 0.5, 1, 5, 30),
  hoursLate: fc.constantFrom(0, 0, 0, 1, 26),
  visits: fc.array(visit, { maxLength: 15 }),
  closes: fc.boolean(),
  forgets: fc.constantFrom(false, false, false, true),
  interval: fc.constantFrom(...INTERVALS),
  timeZone: fc.constantFrom("UTC", "Asia/Seoul"),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** A store, and the ranges of days that are read from it. */
function recordReads(store: VisitStore) {
  const reads: [first: number, last: number][] = [];
  const reading: Pick<VisitStore, "sums" | "days" | "daySums"> = {
    sums: store.sums,
    daySums: store.daySums,
    days(code, createdMs, first, last) {
      reads.push([first, last]);
      return store.days(code, createdMs, first, last);
    },
  };
  return { reads, reading };
}

/** Plays random lives of links over one store: `open` is called at the start of each, `check` after each step. */
async function playLives<T>(
  numRuns: number,
  open: (kinds: readonly Parameters<typeof createStatistics>[0][]) => T,
  check: (state: T, link: NewLink, step: Step) => Promise<void>,
): Promise<void> {
  using folder = temporaryFolder();
  const store = await openSqliteStore(join(folder.path, "curt.db"));
  let links = 0;
  async function play(steps: readonly Step[]): Promise<void> {
    let hour = START_HOUR;
    const clock = { nowMs: () => hour * HOUR_MS };
    const state = open((["safe", "all", "count"] as const).map((shown) => ({ store, clock, shown, noise })));
    const link = newLink(`link${links++}`, { createdMs: 5 });
    for (const one of steps) {
      const { hours, hoursLate, visits, closes, forgets } = one;
      hour += hours;
      const ofLink = visits.map((fields) => ({ ...fields, code: link.code }));
      for (const slice of slicesOf({ hour: Math.floor(hour - hoursLate), visits: ofLink }))
        await store.add(slice);
      const today = Math.floor(hour / 24);
      if (closes) await store.age({ closeBefore: today - 1, forgetBefore: forgets ? today - 2 : 0 }, 1000);
      await check(state, link, one);
    }
  }
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), play), { numRuns });
  await store.close();
}

test("cached days give the same statistics as days read from the store", () =>
  playLives(
    60,
    (kinds) => kinds.map((kind) => ({ kind, keeping: createStatistics(kind) })),
    async (state, link, { interval, timeZone }) => {
      for (const { kind, keeping } of state)
        expect(await keeping.statistics(link, { interval, timeZone })).toEqual(
          await createStatistics(kind).statistics(link, { interval, timeZone }),
        );
    },
  ));

test("equal revisions mean equal statistics", async () => {
  let repeated = 0;
  await playLives(
    40,
    (kinds) => kinds.map((kind) => ({ ...createStatistics(kind), results: new Map<string, unknown>() })),
    async (state, link) => {
      for (const interval of INTERVALS)
        for (const timeZone of ["UTC", "Asia/Seoul"])
          for (const { results, revision, statistics } of state) {
            const key = JSON.stringify(await revision(link, { interval, timeZone }));
            const now = await statistics(link, { interval, timeZone });
            if (results.has(key)) repeated++;
            else results.set(key, now);
            expect(results.get(key)).toEqual(now);
          }
    },
  );
  expect(repeated).toBeGreaterThan(0);
});

test("a day is read again only after it changed", async () => {
  using folder = temporaryFolder();
  const store = await openSqliteStore(join(folder.path, "curt.db"));
  const { reads, reading } = recordReads(store);
  const link = newLink("read", { createdMs: 5 });
  const add = async (hour: number) => {
    for (const slice of slicesOf({ hour, visits: [{ code: link.code }] })) await store.add(slice);
  };
  for (let day = 0; day < 20; day++) await add(START_HOUR + day * 24);
  const nowHour = START_HOUR + 19 * 24 + 1;
  const clock = { nowMs: () => nowHour * HOUR_MS };
  const { statistics } = createStatistics({ store: reading, clock, shown: "safe", noise });
  const readDays = () => statistics(link, { interval: "day", timeZone: "UTC" });
  const first = START_HOUR / 24;
  await readDays();
  await readDays();
  expect(reads).toEqual([[first, first + 19]]);
  await add(nowHour);
  expect(await readDays()).toMatchObject({ visits: 21 });
  expect(reads.slice(1)).toEqual([[first + 19, first + 19]]);
  await store.close();
});

test("the cache keeps the 1,000 latest links, even if they have few visits", async () => {
  using folder = temporaryFolder();
  const store = await openSqliteStore(join(folder.path, "curt.db"));
  const { reads, reading } = recordReads(store);
  const links = Array.from({ length: 1200 }, (_, nth) => newLink(`once-${nth}`, { createdMs: 5 }));
  const visits = links.map(({ code }) => ({ code }));
  for (const slice of slicesOf({ hour: START_HOUR, visits })) await store.add(slice);
  const clock = { nowMs: () => (START_HOUR + 1) * HOUR_MS };
  const { statistics } = createStatistics({ store: reading, clock, shown: "all", noise });
  const readsAfter = async (link: (typeof links)[number]) => {
    expect(await statistics(link, { interval: "day", timeZone: "UTC" })).toMatchObject({ visits: 1 });
    return reads.length;
  };
  for (const link of links) await readsAfter(link);
  expect(reads).toHaveLength(links.length);
  // Backwards, so that reading a cached link drops none that was read before it.
  let cached = 0;
  for (const link of links.toReversed()) {
    if ((await readsAfter(link)) > links.length) break;
    cached++;
  }
  expect(cached).toBe(1000);
  await store.close();
});
