import type { Clock } from "../../links/clock.ts";

/** The aim for one link in each process: a thousandth of what a core can answer. */
const ASKS_PER_SECOND = 20;
const SHORTEST_SECONDS = 2;
const LONGEST_SECONDS = 60;
/** Requests are counted for at least this long, and long enough that every watcher has asked once. */
const COUNTED_SECONDS = 5;
/** Beyond this, the oldest count is dropped. */
const MAX_LINKS = 1000;

/** Counts the requests for one link. */
interface Count {
  readonly endsMs: number;
  asks: number;
  /** About the wait that watchers are told meanwhile. */
  readonly seconds: number;
}

/**
 * Returns how many seconds a program that watches a link should wait before it asks again. The more watchers there are,
 * the longer, so that the total number of requests stays about the same.
 */
export function createPace(clock: Pick<Clock, "monotonicMs">): (code: string) => number {
  const counts = new Map<string, Count>();

  function begin(code: string, nowMs: number, last: Count | undefined): Count {
    const seconds = secondsAfter(last, nowMs);
    const count = { endsMs: nowMs + countedMs(seconds), asks: 0, seconds };
    counts.delete(code);
    counts.set(code, count);
    const [oldest] = counts.keys();
    if (counts.size > MAX_LINKS && oldest !== undefined) counts.delete(oldest);
    return count;
  }

  return (code) => {
    const nowMs = clock.monotonicMs();
    const known = counts.get(code);
    const count = known !== undefined && nowMs < known.endsMs ? known : begin(code, nowMs, known);
    const nth = count.asks++;
    if (count.seconds === SHORTEST_SECONDS) return SHORTEST_SECONDS;
    // Vary the wait by up to half, so that watchers who came at the same moment do not return at the same moment.
    return Math.ceil(count.seconds * (0.5 + (nth % 11) / 10));
  };
}

function countedMs(seconds: number): number {
  return Math.max(COUNTED_SECONDS, seconds) * 1000;
}

function secondsAfter(last: Count | undefined, nowMs: number): number {
  if (last === undefined) return SHORTEST_SECONDS;
  // Nobody has asked since the count ended, so it covers the time until now.
  const elapsedMs = nowMs - last.endsMs + countedMs(last.seconds);
  const watchers = (last.asks * last.seconds * 1000) / elapsedMs;
  return Math.min(LONGEST_SECONDS, Math.max(SHORTEST_SECONDS, Math.ceil(watchers / ASKS_PER_SECOND)));
}
