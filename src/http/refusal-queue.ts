import type { Clock } from "../links/clock.ts";

/** So many refusals are sent at once, as people and tests may cause. Then one after the other. */
const BURST = 100;
/** Between two refusals. 500 a second take about a hundredth of a core. */
const INTERVAL_MS = 2;
/** More are refused at once, because each takes memory. The last one waits for 8 s, less than the server's idle limit. */
const MAX_WAITING = 4000;

/**
 * Returns a function that says when a refusal may be sent; undefined means now. Refusing a request takes longer than a
 * redirect, and a client that is refused may ask again at once. Its connections mostly wait here instead.
 */
export function createRefusalQueue(clock: Pick<Clock, "monotonicMs">): () => Promise<void> | undefined {
  /** When the next refusal would be sent if there were no burst. */
  let nextMs = 0;

  return () => {
    const nowMs = clock.monotonicMs();
    const waitMs = Math.max(nextMs, nowMs) - nowMs - BURST * INTERVAL_MS;
    if (waitMs >= MAX_WAITING * INTERVAL_MS) return undefined;
    nextMs = Math.max(nextMs, nowMs) + INTERVAL_MS;
    return waitMs > 0 ? Bun.sleep(waitMs) : undefined;
  };
}
