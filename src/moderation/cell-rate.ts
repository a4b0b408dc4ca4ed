import type { MonotonicClock } from "../links/clock.ts";

/** At most `count` things within `ms`. */
export interface Window {
  readonly count: number;
  readonly ms: number;
}

/** The rest of a client's limit within a window. */
export interface Allowance extends Window {
  readonly left: number;
  /** Until there is one more, in seconds, rounded up. 0 if nothing is used. */
  readonly seconds: number;
}

/** Limits what each client does. A client is any text, such as a network. */
export type RateLimit = ReturnType<typeof createRateLimit>;

export interface LimitOptions {
  readonly clock: MonotonicClock;
  /** A secret. Otherwise attackers could choose addresses that share a set. */
  readonly seed: bigint;
  readonly sets?: number;
}

/**
 * A limit remembers clients in sets of `WAYS`. The hash of a client chooses its set. With two windows, an entry takes 24
 * bytes, so a limit takes 3 MiB however many clients there are.
 */
const SETS = 16_384;
const WAYS = 8;

/**
 * The generic cell rate algorithm: a client may do `count` things at once, then one every `ms / count`. An entry holds,
 * for each window, the time at which everything the client has done is paid off.
 *
 * Times are in milliseconds times `count`, where one thing costs exactly `ms`. These are integers, so sums have no
 * rounding errors.
 *
 * In a full set, a new client replaces the one that is paid off first. So an attacker with many addresses can make Curt
 * forget other clients, but never block them, and a client over a limit is forgotten last.
 */
export function createRateLimit(windows: readonly Window[], { clock, seed, sets = SETS }: LimitOptions) {
  const hashes = new Float64Array(sets * WAYS);
  const paidOff = new Float64Array(sets * WAYS * windows.length);
  const now = () => Math.floor(clock.monotonicMs());

  const firstOf = (hash: number) => (hash % sets) * WAYS;

  /** The client's entry, or -1. */
  function find(hash: number): number {
    const first = firstOf(hash);
    for (let entry = first; entry < first + WAYS; entry++) if (hashes[entry] === hash) return entry;
    return -1;
  }

  /** When everything an entry has counted is paid off, in milliseconds. */
  function freeMs(entry: number): number {
    let latestMs = 0;
    for (let nth = 0; nth < windows.length; nth++)
      latestMs = Math.max(
        latestMs,
        (paidOff[entry * windows.length + nth] ?? 0) / (windows[nth]?.count ?? 1),
      );
    return latestMs;
  }

  function replace(hash: number): number {
    const first = firstOf(hash);
    let chosen = first;
    for (let entry = first + 1; entry < first + WAYS; entry++)
      if (freeMs(entry) < freeMs(chosen)) chosen = entry;
    hashes[chosen] = hash;
    paidOff.fill(0, chosen * windows.length, (chosen + 1) * windows.length);
    return chosen;
  }

  /** The unpaid cost. One thing costs the window's `ms`. */
  function owed(entry: number, nth: number, { count }: Window, nowMs: number): number {
    const until = entry < 0 ? 0 : (paidOff[entry * windows.length + nth] ?? 0);
    return Math.max(0, until - nowMs * count);
  }

  function waitSeconds(entry: number, nowMs: number, things: number): number {
    if (entry < 0) return 0;
    let longestMs = 0;
    for (const [nth, window] of windows.entries()) {
      const { count, ms } = window;
      longestMs = Math.max(longestMs, (owed(entry, nth, window, nowMs) + ms * things - ms * count) / count);
    }
    return Math.ceil(longestMs / 1000);
  }

  function add(hash: number, known: number, things: number, nowMs: number): void {
    const entry = known < 0 ? replace(hash) : known;
    for (const [nth, window] of windows.entries())
      paidOff[entry * windows.length + nth] =
        nowMs * window.count + owed(entry, nth, window, nowMs) + window.ms * things;
  }

  return {
    bytes: hashes.byteLength + paidOff.byteLength,
    /** How many things a client may do at once, if it did nothing before. */
    most: Math.min(...windows.map(({ count }) => count)),

    /** How long the client has to wait before it may do these things, in seconds, rounded up. */
    wait: (client: string, things = 1) => waitSeconds(find(hashOf(client, seed)), now(), things),

    /** Counts things, unless the client has to wait. Returns the same as `wait`. Give it at most `most` things. */
    take(client: string, things = 1): number {
      const hash = hashOf(client, seed);
      const nowMs = now();
      const known = find(hash);
      const seconds = waitSeconds(known, nowMs, things);
      if (seconds === 0) add(hash, known, things, nowMs);
      return seconds;
    },

    /** Counts things that the client has done already, even beyond the limit. */
    charge(client: string, things: number): void {
      const hash = hashOf(client, seed);
      add(hash, find(hash), things, now());
    },

    /** Undoes a `take`, or a part of it. */
    giveBack(client: string, things = 1): void {
      const entry = find(hashOf(client, seed));
      if (entry < 0) return;
      for (const [nth, { ms }] of windows.entries()) {
        const place = entry * windows.length + nth;
        paidOff[place] = Math.max(0, (paidOff[place] ?? 0) - ms * things);
      }
    },

    /** One for each window. */
    allowances(client: string): Allowance[] {
      const entry = find(hashOf(client, seed));
      const nowMs = now();
      return windows.map((window, nth) => {
        const { count, ms } = window;
        const used = owed(entry, nth, window, nowMs);
        const things = Math.ceil(used / ms);
        const nextMs = things === 0 ? 0 : (used - (things - 1) * ms) / count;
        return { count, ms, left: Math.max(0, count - things), seconds: Math.ceil(nextMs / 1000) };
      });
    },
  };
}

/** 52 bits of a hash, as a number because a BigInt costs as much as the rest of a lookup. */
function hashOf(client: string, seed: bigint): number {
  // 0 marks an entry that was never used.
  return Number(Bun.hash(client, seed) >> 12n) || 1;
}
