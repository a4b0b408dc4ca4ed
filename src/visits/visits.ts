import type { Clock } from "../links/clock.ts";
import type { Code } from "../links/code.ts";
import type { LinkId } from "../links/store.ts";
import { HOUR_MS } from "../links/time.ts";
import { firstOpenDay, type Sums } from "./days/day.ts";
import type { VisitStore } from "./days/store.ts";
import { type JournalOptions, openJournal } from "./journal/journal.ts";
import { type Counter, createRecorder, type Visit } from "./recorder.ts";
import { createStatistics, type StatisticsOptions } from "./statistics/statistics.ts";
import { createVisitors } from "./visitor.ts";

const AGE_BATCH = 200;
/** Ageing stops here and leaves the rest to the next time. */
const MAX_AGE_BATCHES = 100;

type OpenRecorderOptions = Pick<
  JournalOptions,
  "folder" | "tickMs" | "onFault" | "onDropped" | "onLeft" | "onTrouble"
>;

export type OpenRecorder = Awaited<ReturnType<typeof openRecorder>>;

export interface VisitsOptions {
  readonly store: VisitStore;
  readonly clock: Clock;
  /** How many days have statistics by the day. */
  readonly keepDays: number;
}

export interface CountsOptions extends StatisticsOptions {
  readonly store: Pick<VisitStore<Code>, "sums" | "days" | "daySums">;
}

export type Counts = ReturnType<typeof createCounts>;
export type Visits = ReturnType<typeof createVisits>;

/** Returns all visits of a link since its creation. */
export function sumsOf(store: Pick<VisitStore<Code>, "sums">) {
  return ({ code, createdMs }: LinkId<Code>): Promise<Sums> => store.sums(code, createdMs);
}

/** The use cases that only read. They throw faults of the store as `StoreUnavailable`. */
export function createCounts(options: CountsOptions) {
  return {
    /** All visits of a link since its creation. */
    sums: sumsOf(options.store),
    ...createStatistics(options),
  };
}

/** The use cases of all domains. They throw faults of the store as `StoreUnavailable`. */
export function createVisits({ store, clock, keepDays }: VisitsOptions) {
  return {
    /** Lets statistics age. Returns how many days of links have aged. */
    age: () => ageVisits(store, clock, keepDays),
    /** Counts visits in this process, until it is closed. */
    openRecorder: (options: OpenRecorderOptions) => openRecorder(store, clock, options),
  };
}

async function openRecorder(store: VisitStore, clock: Clock, options: OpenRecorderOptions) {
  const visitors = createVisitors(store);
  // A new salt deletes older ones, and shows later starts that the clock was right.
  const prepare = async () => {
    if (clock.trustworthy()) await visitors.prepare(clock.nowMs());
  };
  await prepare().catch(options.onFault);
  const journal = await openJournal({
    ...options,
    store,
    nowMs: clock.monotonicMs,
    hour: () => Math.floor(clock.countedMs(clock.nowMs()) / HOUR_MS),
  });
  const recorder = createRecorder({ journal, visitors });
  return {
    ...recorder,
    record: (link: Counter, visit: Visit, nowMs: number) =>
      recorder.record(link, visit, clock.countedMs(nowMs)),
    /** Fetches what the next hour needs from the store, so that midnight does not depend on it. */
    prepare,
    /** Counts of visits that are not in the store yet. */
    figures: () => journal.figures(),
    /** Folds all visits into the store. Visits that the store can't take now are kept for the next start. */
    close: () => journal.close(),
  };
}

/** Lets statistics age, in small batches. Returns how many days of links have aged. */
export async function ageVisits(
  store: Pick<VisitStore, "age">,
  clock: Pick<Clock, "nowMs" | "trustworthy">,
  keepDays: number,
): Promise<number> {
  let aged = 0;
  for (let batch = 0; batch < MAX_AGE_BATCHES && clock.trustworthy(); batch++) {
    const openDay = firstOpenDay(clock.nowMs());
    const bounds = { closeBefore: openDay, forgetBefore: openDay - keepDays };
    const count = await store.age(bounds, AGE_BATCH);
    aged += count;
    if (count < AGE_BATCH) break;
  }
  return aged;
}
