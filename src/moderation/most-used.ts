import type { Clock } from "../links/clock.ts";
import type { LinkId } from "../links/link-store.ts";
import { DAY_MS } from "../links/time.ts";
import type { VisitedLink, VisitStore } from "../visits/days/visit-store.ts";

/** Today and the days before. */
export const USED_DAYS = 30;
/** Links per day. If more were visited, the store chooses. */
export const MAX_VISITED = 10_000;
/** Other views run between the slices. */
const SLICE_MS = 5;
/** Counting takes at most a hundredth of the time, and its results are at least this old before it starts again. */
const SHARE = 100;
const KEPT_MS = 1000;

/** The visits of all links in the last {@link USED_DAYS} days, as last counted. */
export interface MostUsed {
  /** Counts for a few milliseconds if a count is due. Returns false if that wasn't enough. Rejects with `StoreUnavailable`. */
  count(): Promise<boolean>;
  /** Links with visits, in the order of {@link byUse}. */
  readonly links: readonly VisitedLink[];
  visitsOf(link: LinkId): number;
}

/** Most visits first, then newest. */
export function byUse(one: VisitedLink, other: VisitedLink): number {
  return (
    other.visits - one.visits ||
    other.createdMs - one.createdMs ||
    (one.code < other.code ? -1 : Number(one.code > other.code))
  );
}

export function createMostUsed(store: Pick<VisitStore, "visited">, clock: Pick<Clock, "nowMs">): MostUsed {
  let [links, visits]: [VisitedLink[], Map<string, VisitedLink>] = [[], new Map()];
  let counting:
    | { readonly sums: Map<string, VisitedLink>; day: number; first: number; ms: number }
    | undefined;
  let keptUntilMs = 0;
  /** All readers share a slice, because each day counts once. */
  let slice: Promise<boolean> | undefined;
  const idOf = ({ code, createdMs }: LinkId) => `${createdMs} ${code}`;

  async function countSlice(): Promise<boolean> {
    const startMs = performance.now();
    const today = Math.floor(clock.nowMs() / DAY_MS);
    const task = (counting ??= { sums: new Map(), day: today, first: today - USED_DAYS + 1, ms: 0 });
    while (task.day >= task.first && performance.now() < startMs + SLICE_MS) {
      for (const link of await store.visited(task.day, MAX_VISITED)) {
        const id = idOf(link);
        const sum = (task.sums.get(id)?.visits ?? 0) + link.visits;
        if (sum > 0) task.sums.set(id, { ...link, visits: sum });
      }
      // Not before: the next slice reads a day again that the store failed to read.
      task.day--;
    }
    const isDone = task.day < task.first;
    if (isDone) {
      visits = task.sums;
      links = [...visits.values()].toSorted(byUse);
      counting = undefined;
    }
    const nowMs = performance.now();
    task.ms += nowMs - startMs;
    if (isDone) keptUntilMs = nowMs + Math.max(KEPT_MS, SHARE * task.ms);
    return isDone;
  }

  return {
    async count() {
      if (performance.now() < keptUntilMs) return true;
      return (slice ??= countSlice().finally(() => (slice = undefined)));
    },
    get links() {
      return links;
    },
    visitsOf: (link) => visits.get(idOf(link))?.visits ?? 0,
  };
}
