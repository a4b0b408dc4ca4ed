import type { Clock } from "../../links/clock.ts";

/** Of one link, in each process: a thousandth of what a core can answer. */
const ASKS_PER_SECOND = 20;
const SHORTEST_SECONDS = 2;
const LONGEST_SECONDS = 60;
/** Asks are counted for at least so long, and long enough for everybody to have asked once. */
const COUNTED_SECONDS = 5;
/** Beyond that, the link whose count began first is forgotten. */
const MAX_LINKS = 1000;

/** A count of asks for one link. */
interface Count {
  readonly endsMs: number;
  asks: number;
  /** About what those who ask are told meanwhile. */
  readonly seconds: number;
}

/**
 * Tells programs that watch a link how many seconds to wait before they ask again. The more of them there are, the
 * longer, so that all together they ask about equally often.
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
    // From a half more to a half less, so that those who came together do not come back together.
    return Math.ceil(count.seconds * (0.5 + (nth % 11) / 10));
  };
}

function countedMs(seconds: number): number {
  return Math.max(COUNTED_SECONDS, seconds) * 1000;
}

function secondsAfter(last: Count | undefined, nowMs: number): number {
  if (last === undefined) return SHORTEST_SECONDS;
  // Nobody has asked since its end, so the time until now is part of it.
  const elapsedMs = nowMs - last.endsMs + countedMs(last.seconds);
  const watchers = (last.asks * last.seconds * 1000) / elapsedMs;
  return Math.min(LONGEST_SECONDS, Math.max(SHORTEST_SECONDS, Math.ceil(watchers / ASKS_PER_SECOND)));
}
