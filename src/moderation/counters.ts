import type { Clock } from "../links/clock.ts";
import { DAY_MS } from "../links/time.ts";

/** Each process counts these for the figures of the instance, which are in this order. The store counts visits. */
export const COUNTER_NAMES = [
  "created",
  "reports",
  "refused",
  "blocked",
  "unknown",
  "limited.create",
  "limited.unknown",
  "limited.view",
  "limited.password",
  "limited.report",
  "wrong-token",
] as const;
export type CounterName = (typeof COUNTER_NAMES)[number];
export type CountsByName = Partial<Readonly<Record<CounterName, number>>>;

export interface CountStore {
  /** Adds to the counts of a day (UTC, since 1970-01-01). */
  count(day: number, counts: CountsByName): Promise<void>;
}

/** The counts of this process. */
export interface Counters {
  /** Costs no more than an addition. */
  count(name: CounterName): void;
  /** Since the start of the process. */
  readonly totals: Readonly<Record<CounterName, number>>;
  /** Adds the counts to the store. If it is unavailable, the next call tries again. */
  flush(): Promise<void>;
}

/** A killed process loses its counts since the last flush. Counts belong to the day of the flush. */
export function createCounters({
  store,
  clock,
}: {
  readonly store: CountStore;
  readonly clock: Pick<Clock, "nowMs" | "countedMs">;
}): Counters {
  const totals = Object.fromEntries(COUNTER_NAMES.map((name) => [name, 0])) as Record<CounterName, number>;
  let counts: Partial<Record<CounterName, number>> = {};
  return {
    count(name) {
      counts[name] = (counts[name] ?? 0) + 1;
      totals[name]++;
    },
    totals,
    async flush() {
      const flushed = counts;
      counts = {};
      if (Object.keys(flushed).length === 0) return;
      try {
        await store.count(Math.floor(clock.countedMs(clock.nowMs()) / DAY_MS), flushed);
      } catch (error) {
        for (const name of COUNTER_NAMES)
          if (flushed[name] !== undefined) counts[name] = (counts[name] ?? 0) + flushed[name];
        throw error;
      }
    },
  };
}
