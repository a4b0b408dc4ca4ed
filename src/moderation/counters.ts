import type { Clock } from "../links/clock.ts";
import { DAY_MS } from "../links/time.ts";
import type { GuardStore } from "./store.ts";

/** What each process counts for the figures of the instance. Visits are counted where they are stored. */
const COUNTED = [
  "created",
  "refused",
  "blocked",
  "limited.create",
  "limited.unknown",
  "limited.view",
  "limited.report",
  "limited.password",
  "reports",
  "unknown",
] as const;
export type CounterName = (typeof COUNTED)[number];
export type Counts = Partial<Readonly<Record<CounterName, number>>>;

export interface Counters {
  /** Costs no more than an addition: the store is told later. */
  count(name: CounterName): void;
  /** What this process has counted since its start. */
  readonly totals: Readonly<Record<CounterName, number>>;
  /** Adds what was counted to the store. If it cannot take it now, the next call tries again. */
  flush(): Promise<void>;
}

/** What was counted since the last flush is lost if the process is killed. It counts for the day of the flush. */
export function createCounters({
  store,
  clock,
}: {
  readonly store: Pick<GuardStore, "count">;
  readonly clock: Pick<Clock, "nowMs">;
}): Counters {
  const totals = Object.fromEntries(COUNTED.map((name) => [name, 0])) as Record<CounterName, number>;
  let counts: Partial<Record<CounterName, number>> = {};
  const add = (name: CounterName, times: number) => (counts[name] = (counts[name] ?? 0) + times);
  return {
    count(name) {
      add(name, 1);
      totals[name]++;
    },
    totals,
    async flush() {
      const flushed = counts;
      counts = {};
      if (Object.keys(flushed).length === 0) return;
      try {
        await store.count(Math.floor(clock.nowMs() / DAY_MS), flushed);
      } catch (error) {
        for (const name of COUNTED) if (flushed[name] !== undefined) add(name, flushed[name]);
        throw error;
      }
    },
  };
}
