import { HOUR_MS } from "./time.ts";

/** The time that the domain goes by. All instants are Unix milliseconds. */
export interface Clock {
  /** The wall clock, except that it never runs backwards: after a step back it waits until the wall catches up. */
  nowMs(): number;
  /** Counts on however the wall clock is set; only differences mean anything. */
  monotonicMs(): number;
  /**
   * False while the wall clock has left the monotonic clock by more than an hour since the start. Whatever
   * cannot be undone (deleting expired links) waits until an operator's or NTP's step is over.
   */
  trustworthy(): boolean;
}

const MAX_DRIFT_MS = HOUR_MS;

export function createClock(wallMs: () => number, monotonicMs: () => number): Clock {
  const startedWallMs = wallMs();
  const startedMonotonicMs = monotonicMs();
  let latestMs = startedWallMs;
  return {
    nowMs() {
      const wall = wallMs();
      if (wall > latestMs) latestMs = wall;
      return latestMs;
    },
    monotonicMs,
    trustworthy() {
      const drift = wallMs() - startedWallMs - (monotonicMs() - startedMonotonicMs);
      return Math.abs(drift) <= MAX_DRIFT_MS;
    },
  };
}
