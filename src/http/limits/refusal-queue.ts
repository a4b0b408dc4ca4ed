import type { MonotonicClock } from "../../links/clock.ts";

/** Refusals that are sent without a delay, so a client that is seldom refused never waits. */
const BURST = 100;
/** The delay between later refusals. 500 per second take about 1% of a core. */
const INTERVAL_MS = 2;
/** Beyond this, refusals are immediate to save memory. The last one waits 8 s, less than the server's idle limit. */
const MAX_WAITING = 4000;

/**
 * Returns a function that returns the delay of the next refusal, in milliseconds. A refusal is more expensive than a
 * redirect, and a refused client could retry immediately. The delay slows it down.
 */
export function createRefusalQueue(clock: MonotonicClock): () => number {
  /** When all refusals so far are sent, one every `INTERVAL_MS`. */
  let doneMs = 0;

  return () => {
    const nowMs = clock.monotonicMs();
    const aheadMs = Math.max(0, doneMs - nowMs);
    const waitMs = Math.max(0, aheadMs - (BURST - 1) * INTERVAL_MS);
    if (waitMs > MAX_WAITING * INTERVAL_MS) return 0;
    doneMs = nowMs + aheadMs + INTERVAL_MS;
    return waitMs;
  };
}
