import { HOUR_MS } from "./time.ts";

/** The domain's only source of time. All instants are Unix milliseconds. */
export interface Clock {
  /** The wall clock, but never backwards: if the wall clock is set back, this stands still until it has caught up. */
  nowMs(): number;
  /** Not affected when the wall clock is set. Only differences between two readings have a meaning. */
  monotonicMs(): number;
  /**
   * False while the wall clock is more than an hour away from where the monotonic clock says it should be, because an
   * operator or NTP has set it. What cannot be undone (deleting expired links) waits until this is true again.
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
