import type { Clock } from "../links/clock.ts";

/** This many refusals may be sent at once. A client that is refused now and then never waits. */
const BURST = 100;
/** Between two refusals beyond that. 500 a second take about a hundredth of a core. */
const INTERVAL_MS = 2;
/** More are refused at once, because each takes memory. The last one waits for 8 s, less than the server's idle limit. */
const MAX_WAITING = 4000;

/**
 * Returns a function that says for how long to hold back the next refusal, in milliseconds. A refusal takes longer than a
 * redirect, and a client that is refused can ask again at once. While its refusals are held back, it cannot.
 */
export function createRefusalQueue(clock: Pick<Clock, "monotonicMs">): () => number {
  /** When all refusals so far would have been sent, one every `INTERVAL_MS`. */
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
