import { expect, test } from "bun:test";
import { join } from "node:path";

import * as fc from "fast-check";

import type { NewLink } from "../../src/links/store.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { VisitStore } from "../../src/visits/days/store.ts";
import { createNoise } from "../../src/visits/statistics/noise.ts";
import { INTERVALS } from "../../src/visits/statistics/series.ts";
import { createStatistics } from "../../src/visits/statistics/statistics.ts";
import { temporaryFolder } from "../service.ts";
import { newLink } from "../stores/links.ts";
import { slicesOf, type Told } from "./slices.ts";

const HOUR_MS = 3_600_000;
const noise = createNoise("a key");
const START_HOUR = Date.UTC(2026, 9, 1) / HOUR_MS;

const visit: fc.Arbitrary<Partial<Told>> = fc.record({
  bot: fc.boolean(),
  visitor: fc.nat(20),
  referrer: fc.constantFrom("", "a.example", "b.example", "c.example"),
});
/** Some hours pass, some visits come that were made a while ago, and perhaps days are closed or forgotten. */
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

/** Plays many random lives of a link over one store; `look` is called after each step of a life, which begins with `open`. */
async function playLives<T>(
  numRuns: number,
  open: (kinds: readonly Parameters<typeof createStatistics>[0][]) => T,
  look: (opened: T, link: NewLink, step: Step) => Promise<void>,
): Promise<void> {
  using folder = temporaryFolder();
  const store = await openSqliteStore(join(folder.path, "curt.db"));
  let links = 0;
  async function play(steps: readonly Step[]): Promise<void> {
    let hour = START_HOUR;
    const clock = { nowMs: () => hour * HOUR_MS };
    const opened = open((["safe", "all", "count"] as const).map((shown) => ({ store, clock, shown, noise })));
    const link = newLink(`link${links++}`, { createdMs: 5 });
    for (const one of steps) {
      const { hours, hoursLate, visits, closes, forgets } = one;
      hour += hours;
      const told = visits.map((visited) => ({ ...visited, code: link.code }));
      for (const slice of slicesOf({ hour: Math.floor(hour - hoursLate), visits: told }))
        await store.add(slice);
      const today = Math.floor(hour / 24);
      if (closes) await store.age({ closeBefore: today - 1, forgetBefore: forgets ? today - 2 : 0 }, 1000);
      await look(opened, link, one);
    }
  }
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), play), { numRuns });
  await store.close();
}

test("cached days give the same statistics as days read from the store", () =>
  playLives(
    60,
    (kinds) => kinds.map((kind) => ({ kind, keeping: createStatistics(kind) })),
    async (opened, link, { interval, timeZone }) => {
      for (const { kind, keeping } of opened)
        expect(await keeping.statistics(link, { interval, timeZone })).toEqual(
          await createStatistics(kind).statistics(link, { interval, timeZone }),
        );
    },
  ));

test("statistics of the same revision are the same", async () => {
  let repeated = 0;
  await playLives(
    40,
    (kinds) => kinds.map((kind) => ({ ...createStatistics(kind), told: new Map<string, unknown>() })),
    async (opened, link) => {
      for (const interval of INTERVALS)
        for (const timeZone of ["UTC", "Asia/Seoul"])
          for (const { told, revision, statistics } of opened) {
            const known = JSON.stringify(await revision(link, { interval, timeZone }));
            const now = await statistics(link, { interval, timeZone });
            if (told.has(known)) repeated++;
            else told.set(known, now);
            expect(told.get(known)).toEqual(now);
          }
    },
  );
  expect(repeated).toBeGreaterThan(0);
});

test("a day is read again only when it has changed", async () => {
  using folder = temporaryFolder();
  const store = await openSqliteStore(join(folder.path, "curt.db"));
  const read: [first: number, last: number][] = [];
  const reading: Pick<VisitStore, "sums" | "days" | "daySums"> = {
    sums: store.sums,
    daySums: store.daySums,
    days(code, createdMs, first, last) {
      read.push([first, last]);
      return store.days(code, createdMs, first, last);
    },
  };
  const link = newLink("read", { createdMs: 5 });
  const add = async (hour: number) => {
    for (const slice of slicesOf({ hour, visits: [{ code: link.code }] })) await store.add(slice);
  };
  for (let day = 0; day < 20; day++) await add(START_HOUR + day * 24);
  const nowHour = START_HOUR + 19 * 24 + 1;
  const clock = { nowMs: () => nowHour * HOUR_MS };
  const { statistics } = createStatistics({ store: reading, clock, shown: "safe", noise });
  const ask = () => statistics(link, { interval: "day", timeZone: "UTC" });
  const first = START_HOUR / 24;
  await ask();
  await ask();
  expect(read).toEqual([[first, first + 19]]);
  await add(nowHour);
  expect(await ask()).toMatchObject({ visits: 21 });
  expect(read.slice(1)).toEqual([[first + 19, first + 19]]);
  await store.close();
});

test("links with little to tell are forgotten in time as well", async () => {
  using folder = temporaryFolder();
  const store = await openSqliteStore(join(folder.path, "curt.db"));
  let reads = 0;
  const reading: Pick<VisitStore, "sums" | "days" | "daySums"> = {
    sums: store.sums,
    daySums: store.daySums,
    days(...asked) {
      reads++;
      return store.days(...asked);
    },
  };
  const links = Array.from({ length: 1200 }, (_, nth) => newLink(`once-${nth}`, { createdMs: 5 }));
  const visits = links.map(({ code }) => ({ code }));
  for (const slice of slicesOf({ hour: START_HOUR, visits })) await store.add(slice);
  const clock = { nowMs: () => (START_HOUR + 1) * HOUR_MS };
  const { statistics } = createStatistics({ store: reading, clock, shown: "all", noise });
  const ask = async (link: (typeof links)[number]) => {
    expect(await statistics(link, { interval: "day", timeZone: "UTC" })).toMatchObject({ visits: 1 });
    return reads;
  };
  for (const link of links) await ask(link);
  expect(reads).toBe(links.length);
  // From the last one back, so that asking for one that is kept drops none of those that were asked for earlier.
  let kept = 0;
  for (const link of links.toReversed()) {
    if ((await ask(link)) > links.length) break;
    kept++;
  }
  expect(kept).toBe(1000);
  await store.close();
});
