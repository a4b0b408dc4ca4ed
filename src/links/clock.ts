import { HOUR_MS } from "./time.ts";

/** The domain's only source of time. All instants are Unix milliseconds. */
export interface Clock {
  /**
   * The wall clock, except that it never runs backwards: after a step back it waits until the wall catches up. Only
   * what came of a jump ahead is taken back with it.
   */
  nowMs(): number;
  /** Not affected when the wall clock is set. Only differences between two readings have a meaning. */
  monotonicMs(): number;
  /**
   * False while the wall clock has left the monotonic clock by more than an hour since the start, or was beyond belief
   * at the start. Whatever cannot be undone (deleting expired links) waits until that is over.
   */
  trustworthy(): boolean;
  /** Calls `forget` whenever a jump ahead is taken back, because a cache may have links that haven't started yet. */
  onTakenBack(forget: () => void): void;
}

export interface ClockOptions {
  /** A clock beyond this is not believed until it comes back. */
  readonly believedUntilMs?: number;
  /** Whether the clock is believed has changed; `aheadMs` is how far it is ahead of what it should say. */
  readonly onChange?: (isBelieved: boolean, aheadMs: number) => void;
}

const MAX_DRIFT_MS = HOUR_MS;
/** Within this of the latest reading, the wall clock is believed without a look at the monotonic one. */
const GLANCE_MS = 60_000;

export function createClock(
  wallMs: () => number,
  monotonicMs: () => number,
  { believedUntilMs = Number.POSITIVE_INFINITY, onChange = () => {} }: ClockOptions = {},
): Clock {
  let startedWallMs = wallMs();
  let startedMonotonicMs = monotonicMs();
  /** Until it was believed once, there is nothing to go on from. */
  let wasBelieved = startedWallMs <= believedUntilMs;
  let isBelieved = wasBelieved;
  let latestMs = startedWallMs;
  /** The latest reading that was believed. */
  let believedMs = wasBelieved ? startedWallMs : 0;
  const caches: (() => void)[] = [];
  if (!wasBelieved) onChange(false, startedWallMs - believedUntilMs);

  function aheadMs(wall: number): number {
    if (wasBelieved) return wall - startedWallMs - (monotonicMs() - startedMonotonicMs);
    return Math.max(0, wall - believedUntilMs);
  }

  function read(): number {
    const wall = wallMs();
    const sinceMs = wall - latestMs;
    if (isBelieved && sinceMs >= 0 && sinceMs < GLANCE_MS) latestMs = wall;
    else examine(wall);
    return latestMs;
  }

  function examine(wall: number): void {
    const ahead = aheadMs(wall);
    const believes = wasBelieved ? Math.abs(ahead) <= MAX_DRIFT_MS : ahead === 0;
    if (believes && !wasBelieved) {
      wasBelieved = true;
      startedWallMs = wall;
      startedMonotonicMs = monotonicMs();
    }
    if (isBelieved && !believes) believedMs = latestMs;
    const isTakenBack = !isBelieved && (believes || latestMs - wall > MAX_DRIFT_MS);
    const beforeMs = latestMs;
    latestMs = Math.max(isTakenBack ? believedMs : latestMs, wall);
    if (latestMs < beforeMs) for (const forget of caches) forget();
    if (believes !== isBelieved) onChange(believes, ahead);
    isBelieved = believes;
  }

  return {
    nowMs: read,
    monotonicMs,
    trustworthy() {
      examine(wallMs());
      return isBelieved;
    },
    onTakenBack: (forget) => void caches.push(forget),
  };
}
