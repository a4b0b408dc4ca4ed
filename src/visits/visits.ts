import type { Clock } from "../links/clock.ts";
import type { Code } from "../links/code.ts";
import type { LinkId } from "../links/link-store.ts";
import { DAY_MS, HOUR_MS } from "../links/time.ts";
import { firstOpenDay, type Sums } from "./days/day.ts";
import type { VisitStore } from "./days/visit-store.ts";
import { type JournalOptions, openJournal } from "./journal/journal.ts";
import type { JournalFigures } from "./journal/segments.ts";
import { createRecorder, type Recorder } from "./recorder.ts";
import { createStatistics, type StatisticsOptions, type StatisticsReader } from "./statistics/statistics.ts";
import { createVisitors } from "./visitor-numbers.ts";

const AGE_BATCH = 200;
/** Ageing stops here and leaves the rest to the next time. */
const MAX_AGE_BATCHES = 100;
/** Long enough to notice the warning. */
export const FORGET_AFTER_MS = DAY_MS;

type OpenRecorderOptions = Omit<JournalOptions, "store" | "nowMs" | "hour">;

/** A recorder with its journal. */
export interface OpenRecorder extends Recorder {
  /** Fetches what the next hour needs from the store, so that midnight does not depend on it. */
  prepare(): Promise<void>;
  /** Counts of visits that are not in the store yet. */
  figures(): JournalFigures;
  /** Folds all visits into the store. Visits that the store can't take now are kept for the next start. */
  close(): Promise<void>;
}

export interface VisitsOptions {
  readonly store: VisitStore;
  readonly clock: Clock;
  /** How many days have statistics by the day. */
  readonly keepDays: number;
  /** Called if it is shorter than before: until `forgetsFromMs`, no day is forgotten. */
  readonly onShortened?: (formerDays: number, forgetsFromMs: number) => void;
}

/** The use cases that only read. They reject with `StoreUnavailable`. */
export interface VisitLookUps extends StatisticsReader {
  /** All visits of a link since its creation. */
  sums(link: LinkId<Code>): Promise<Sums>;
}

/** The use cases of all domains. They reject with `StoreUnavailable`. */
export interface Visits {
  /** Lets statistics age, in small batches. Returns how many days of links have aged. */
  age(): Promise<number>;
  /** Counts visits in this process, until it is closed. Rejects if the folder can't be written. */
  openRecorder(options: OpenRecorderOptions): Promise<OpenRecorder>;
}

/** The part of {@link VisitLookUps} that needs no statistics. */
export function sumsOf(store: Pick<VisitStore<Code>, "sums">) {
  return ({ code, createdMs }: LinkId<Code>): Promise<Sums> => store.sums(code, createdMs);
}

export function createVisitLookUps(options: StatisticsOptions): VisitLookUps {
  return { sums: sumsOf(options.store), ...createStatistics(options) };
}

export function createVisits(options: VisitsOptions): Visits {
  const { store, clock, keepDays } = options;
  const mayForget = createForgetting(options);
  return {
    async age() {
      if (!clock.trustworthy()) return 0;
      return ageVisits(store, clock, (await mayForget()) ? keepDays : Number.POSITIVE_INFINITY);
    },
    openRecorder: (more) => openRecorder(store, clock, { ...more, onTrusted: mayForget }),
  };
}

/** A changed number of days takes effect after a day, because it may be a mistake. Restarts don't extend that. */
function createForgetting({ store, clock, keepDays, onShortened }: VisitsOptions) {
  let sinceMs: number | undefined;
  return async (): Promise<boolean> => {
    if (sinceMs === undefined) {
      const known = await store.rememberKeep(keepDays, clock.nowMs());
      sinceMs = known.sinceMs;
      if (isRecent(sinceMs) && known.formerDays > keepDays)
        onShortened?.(known.formerDays, sinceMs + FORGET_AFTER_MS);
    }
    return !isRecent(sinceMs);
  };

  /** A clock that was ahead at that time must not make this last longer. */
  function isRecent(ms: number): boolean {
    return Math.abs(clock.nowMs() - ms) < FORGET_AFTER_MS;
  }
}

async function openRecorder(
  store: VisitStore,
  clock: Clock,
  options: OpenRecorderOptions & { readonly onTrusted: () => Promise<unknown> },
): Promise<OpenRecorder> {
  const visitors = createVisitors(store);
  // A new salt deletes older ones, and shows later starts that the clock was right.
  const prepare = async () => {
    if (!clock.trustworthy()) return;
    await visitors.prepare(clock.nowMs());
    await options.onTrusted();
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
    record: (link, visit, nowMs) => recorder.record(link, visit, clock.countedMs(nowMs)),
    prepare,
    figures: () => journal.figures(),
    close: () => journal.close(),
  };
}

/** @internal */
export async function ageVisits(
  store: Pick<VisitStore, "age">,
  clock: Pick<Clock, "nowMs" | "trustworthy">,
  keepDays: number,
): Promise<number> {
  let aged = 0;
  for (let batch = 0; batch < MAX_AGE_BATCHES && clock.trustworthy(); batch++) {
    const openDay = firstOpenDay(clock.nowMs());
    const bounds = { closeBefore: openDay, forgetBefore: Math.max(0, openDay - keepDays) };
    const count = await store.age(bounds, AGE_BATCH);
    aged += count;
    if (count < AGE_BATCH) break;
  }
  return aged;
}
