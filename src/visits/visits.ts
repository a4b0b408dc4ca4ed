import type { Clock } from "../links/clock.ts";
import type { LinkId } from "../links/store.ts";
import { HOUR_MS } from "../links/time.ts";
import { firstOpenDay, type Sums } from "./day.ts";
import { type JournalOptions, openJournal } from "./journal/journal.ts";
import { createRecorder } from "./recorder.ts";
import {
  createStatistics,
  type Reader,
  type RefusedRange,
  type Statistics,
  type StatisticsOptions,
  type StatisticsRequest,
} from "./statistics/statistics.ts";
import type { VisitStore } from "./store.ts";
import { createVisitors } from "./visitor.ts";

/** The use cases. Faults of the store are thrown as `StoreUnavailable`. */
export interface Visits extends Pick<Counts, "sums"> {
  /** Lets statistics age, in small batches; says how many days of links have aged. */
  age(): Promise<number>;
  /** Counts visits in this process, until it is closed. */
  openRecorder(options: OpenRecorderOptions): Promise<OpenRecorder>;
}

/** The half that only reads. */
export interface Counts {
  /** All visits of a link since it was made. */
  sums(link: LinkId): Promise<Sums>;
  statistics(link: LinkId, request: StatisticsRequest, reader?: Reader): Promise<Statistics | RefusedRange>;
  /** A text that stays the same for as long as these statistics do. Takes a small part of their time. */
  revision(link: LinkId, request: StatisticsRequest): Promise<string | RefusedRange>;
}

type OpenRecorderOptions = Pick<
  JournalOptions,
  "folder" | "tickMs" | "onFault" | "onDropped" | "onLeft" | "onTrouble"
>;

export type OpenRecorder = Awaited<ReturnType<typeof openRecorder>>;

export interface VisitsOptions {
  readonly store: VisitStore;
  readonly clock: Clock;
  /** Fills an array with bytes from a CSPRNG. */
  readonly fillRandom: (bytes: Uint8Array) => void;
  /** How many days statistics are told by the day. */
  readonly keepDays: number;
}

export interface CountsOptions extends StatisticsOptions {
  readonly store: Pick<VisitStore, "sums" | "days" | "daySums">;
}

export function createCounts(options: CountsOptions): Counts {
  return {
    sums: ({ code, createdMs }) => options.store.sums(code, createdMs),
    ...createStatistics(options),
  };
}

export function createVisits(options: VisitsOptions): Visits {
  const { store, clock, keepDays } = options;
  return {
    sums: ({ code, createdMs }) => store.sums(code, createdMs),
    age: () => ageVisits(store, clock, keepDays),
    openRecorder: (recorderOptions) => openRecorder({ ...options, ...recorderOptions }),
  };
}

async function openRecorder(options: VisitsOptions & OpenRecorderOptions) {
  const { store, clock, fillRandom, onFault } = options;
  const visitors = createVisitors({ store, fillRandom });
  // A salt that is made forgets older ones, and tells later starts that the clock was right.
  const prepare = async () => {
    if (clock.trustworthy()) await visitors.prepare(clock.nowMs());
  };
  await prepare().catch(onFault);
  const journal = await openJournal({
    ...options,
    nowMs: clock.monotonicMs,
    hour: () => Math.floor(clock.nowMs() / HOUR_MS),
  });
  return {
    ...createRecorder({ journal, visitors }),
    /** Fetches what the next hour needs from the store, so that midnight does not depend on it. */
    prepare,
    /** What is not in the store yet. */
    figures: () => journal.figures(),
    /** Brings everything counted to the store; what that cannot take now is kept for the next start. */
    close: () => journal.close(),
  };
}

const BATCH = 200;
/** Ageing stops here and leaves the rest to the next time. */
const MAX_BATCHES = 100;

/** Lets statistics age, in small batches, up to what is due; says how many days of links have aged. */
export async function ageVisits(
  store: VisitStore,
  clock: Pick<Clock, "nowMs" | "trustworthy">,
  keepDays: number,
): Promise<number> {
  let aged = 0;
  for (let batch = 0; batch < MAX_BATCHES && clock.trustworthy(); batch++) {
    const openDay = firstOpenDay(clock.nowMs());
    const bounds = { closeBefore: openDay, forgetBefore: openDay - keepDays };
    const done = await store.age(bounds, BATCH);
    aged += done;
    if (done < BATCH) break;
  }
  return aged;
}
