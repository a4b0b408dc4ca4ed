import { DAY_MS, HOUR_MS } from "./time.ts";

/** Instants are Unix milliseconds. */
export interface WallClock {
  /**
   * Never runs backwards: after a step back it waits until the system's clock catches up. Only a jump ahead of more than an
   * hour is undone.
   */
  nowMs(): number;
}

export interface MonotonicClock {
  /** Unaffected by changes of the wall clock. Only differences between readings are meaningful. */
  monotonicMs(): number;
}

/** The domain's only source of time. */
export interface Clock extends WallClock, MonotonicClock {
  /**
   * False after the wall clock has jumped by more than an hour, until it comes back or has been steady for ten minutes. False
   * if it is more than a month after the last time that was trusted. Irreversible work (deleting expired links) waits.
   */
  trustworthy(): boolean;
  /**
   * Returns the time that decides on which day a visit counts. It is `nowMs`, unless the clock can't be trusted and is more
   * than a month ahead. Never on 1970-01-01, because day 0 of a link is the sum of its undated visits.
   */
  countedMs(nowMs: number): number;
  /** Calls `forget` whenever a jump ahead is undone, because a cache may have links that haven't started yet. */
  onSetBack(forget: () => void): void;
}

export interface ClockOptions {
  /** A clock that starts beyond this is not trusted until it comes back. */
  readonly believedUntilMs?: number;
  /** Called when the trust in the clock changes. `aheadMs` is how far it is ahead of the expected time. */
  readonly onChange?: (trust: Trust, aheadMs: number) => void;
}

/** After a jump, the clock is trusted again once it is steady. If it is too far ahead, only the operator can know. */
export type Trust = "trusted" | "jumped" | "too far ahead";

export const MAX_DRIFT_MS = HOUR_MS;
/** How long the wall clock must agree with the monotonic one after a jump. */
export const STEADY_MS = 10 * 60_000;
/** While it does, they differ by less than this. */
const MAX_STEADY_DRIFT_MS = 60_000;
/** The clock is believed until this number of days after it was last trusted. */
export const BELIEVED_DAYS = 31;
/** A clock that can't be trusted may still be right. A computer without a battery sets it long after the start. */
const MAX_COUNTED_AHEAD_MS = BELIEVED_DAYS * DAY_MS;
/** Within this of the latest reading, the wall clock is trusted without reading the monotonic one. */
const GLANCE_MS = 60_000;

export function createClock(
  wallMs: () => number,
  monotonicMs: () => number,
  { believedUntilMs = Number.POSITIVE_INFINITY, onChange = () => {} }: ClockOptions = {},
): Clock {
  let startedWallMs = wallMs();
  let startedMonotonicMs = monotonicMs();
  /** Without a trusted reading, the monotonic clock has nothing to start from. */
  let wasBelieved = startedWallMs <= believedUntilMs;
  let isBelieved = wasBelieved;
  let trust: Trust = wasBelieved ? "trusted" : "too far ahead";
  /** How far it was ahead when it last jumped, and when that was. */
  let jump = { aheadMs: 0, atMs: 0 };
  let latestMs = startedWallMs;
  /** The latest trusted reading. */
  let believedMs = wasBelieved ? startedWallMs : 0;
  const caches: (() => void)[] = [];
  if (!wasBelieved) onChange(trust, startedWallMs - believedUntilMs);

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
    let believes = wasBelieved ? Math.abs(ahead) <= MAX_DRIFT_MS : ahead === 0;
    if (isBelieved && !believes) believedMs = latestMs;
    const isNear = believes || wall <= latestBelievableMs();
    // Accepts what a restart would accept.
    const isAccepted = !believes && wasBelieved && isSteady(ahead) && isNear;
    believes ||= isAccepted;
    if (isAccepted || (believes && !wasBelieved)) {
      wasBelieved = true;
      startedWallMs = wall;
      startedMonotonicMs = monotonicMs();
    }
    const isSetBack = !isBelieved && (believes || latestMs - wall > MAX_DRIFT_MS);
    const beforeMs = latestMs;
    latestMs = Math.max(isSetBack ? believedMs : latestMs, wall);
    if (latestMs < beforeMs) for (const forget of caches) forget();
    isBelieved = believes;
    const doubt = wasBelieved && isNear ? "jumped" : "too far ahead";
    const before = trust;
    trust = believes ? "trusted" : doubt;
    if (trust !== before) onChange(trust, ahead);
  }

  /** The limit of a restart, which knows the day on which the clock was last trusted. */
  function latestBelievableMs(): number {
    const knownMs = Number.isFinite(believedUntilMs) ? believedUntilMs : 0;
    return Math.max(knownMs, (isBelieved ? latestMs : believedMs) + BELIEVED_DAYS * DAY_MS);
  }

  /** Whether the clock has not jumped again for a while. */
  function isSteady(ahead: number): boolean {
    const nowMs = monotonicMs();
    if (isBelieved || Math.abs(ahead - jump.aheadMs) > MAX_STEADY_DRIFT_MS)
      jump = { aheadMs: ahead, atMs: nowMs };
    return nowMs - jump.atMs >= STEADY_MS;
  }

  return {
    nowMs: read,
    monotonicMs,
    trustworthy() {
      examine(wallMs());
      return isBelieved;
    },
    countedMs(nowMs) {
      if (isBelieved) return Math.max(nowMs, DAY_MS);
      const expectedMs = wasBelieved ? startedWallMs + monotonicMs() - startedMonotonicMs : believedUntilMs;
      const knownMs = Number.isFinite(believedUntilMs) ? Math.max(expectedMs, believedUntilMs) : expectedMs;
      return Math.max(nowMs > knownMs + MAX_COUNTED_AHEAD_MS ? expectedMs : nowMs, DAY_MS);
    },
    onSetBack: (forget) => void caches.push(forget),
  };
}
