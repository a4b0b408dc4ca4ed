import { clientSite } from "../lib/client-address.ts";
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
type RateLimit = ReturnType<typeof createRateLimit>;

export type RateLimitName = "create" | "unknown" | "view" | "report" | "password";

/** The limits that are on. */
export type RateLimits = { readonly [name in RateLimitName]?: RateLimit | undefined } & {
  /** Counts the same requests as `unknown`, up to ten times as many. */
  readonly scan?: ReturnType<typeof createScanLimit> | undefined;
  /** Attempts at the password of a link, by all clients together. Its "clients" are links. */
  readonly passwordOfLink?: RateLimit | undefined;
  /** Attempts at the password of a link, by one /48 of IPv6. Its "clients" are pairs of both. */
  readonly passwordOfSite?: RateLimit | undefined;
  /** Checks of passwords, right or wrong. */
  readonly passwordCheck?: RateLimit | undefined;
  /** Wrong tokens of the operator. Undefined without operators. */
  readonly wrongToken?: RateLimit | undefined;
};

export const WRONG_TOKENS: Window = { count: 10, ms: 60_000 };
/** Each takes about 40 ms of a core. Visitors of one link and an office behind one address need far fewer. */
export const PASSWORD_CHECKS: Window = { count: 60, ms: 60_000 };

export interface RateLimitsOptions extends LimitOptions {
  readonly limitCreate: readonly Window[];
  readonly limitUnknown: readonly Window[];
  readonly limitView: readonly Window[];
  readonly limitReport: readonly Window[];
  readonly limitPasswords: readonly Window[];
  readonly hasOperators?: boolean;
}

/**
 * A client over this limit isn't redirected, so it allows more than a broken page or a busy network requests. It still
 * allows too little to find many of the words that people choose as codes.
 */
export const SCAN_TIMES = 10;

/**
 * All clients together may try the password of a link as often as this many single ones. Many addresses then guess
 * hardly better than a few, but somebody with a few can't lock everybody else out.
 */
export const TRYING_CLIENTS = 10;

export function createRateLimits(options: RateLimitsOptions): RateLimits {
  const on = <T>(
    windows: readonly Window[],
    create: (windows: readonly Window[], options: LimitOptions) => T,
  ) => (windows.length === 0 ? undefined : create(windows, options));
  const limit = (windows: readonly Window[]) => on(windows, createClientLimit);
  const { limitUnknown, limitPasswords } = options;
  return {
    create: limit(options.limitCreate),
    unknown: limit(limitUnknown),
    // At the same pace as `unknown`: a client over this limit gets lookups as often as that allows.
    scan: on(
      limitUnknown.map(({ count, ms }) => ({ count: count * SCAN_TIMES, ms: ms * SCAN_TIMES })),
      createScanLimit,
    ),
    view: limit(options.limitView),
    report: limit(options.limitReport),
    password: limit(limitPasswords),
    passwordOfLink: on(times(limitPasswords, TRYING_CLIENTS), createRateLimit),
    // A /48 gets as many as an IPv4 address, so that its networks can't lock everybody else out.
    passwordOfSite: on(limitPasswords, createRateLimit),
    passwordCheck: limitPasswords.length === 0 ? undefined : limit([PASSWORD_CHECKS]),
    wrongToken: options.hasOperators === true ? limit([WRONG_TOKENS]) : undefined,
  };
}

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
/** Fewer than {@link SETS}, because there are fewer /48 networks than clients. */
const SITE_SETS = 2048;
/** A /48 gets this many times a client's limit. Offices use a few /64, and an attacker can use all 65,536. */
export const CLIENTS_OF_SITE = 16;

function times(windows: readonly Window[], factor: number): Window[] {
  return windows.map(({ count, ms }) => ({ count: count * factor, ms }));
}

/** Counts each client, and for IPv6 also its /48. Clients are results of {@link clientNetwork}. */
export function createClientLimit(windows: readonly Window[], options: LimitOptions): RateLimit {
  const clients = createRateLimit(windows, options);
  const sites = createRateLimit(times(windows, CLIENTS_OF_SITE), { ...options, sets: SITE_SETS });

  function wait(client: string, things = 1): number {
    const site = clientSite(client);
    const seconds = clients.wait(client, things);
    return site === undefined ? seconds : Math.max(seconds, sites.wait(site, things));
  }

  function charge(client: string, things: number): void {
    const site = clientSite(client);
    clients.charge(client, things);
    if (site !== undefined) sites.charge(site, things);
  }

  return {
    bytes: clients.bytes + sites.bytes,
    most: clients.most,
    wait,
    charge,

    take(client, things = 1) {
      const seconds = wait(client, things);
      if (seconds === 0) charge(client, things);
      return seconds;
    },

    giveBack(client, things = 1) {
      const site = clientSite(client);
      clients.giveBack(client, things);
      if (site !== undefined) sites.giveBack(site, things);
    },

    allowances(client) {
      const site = clientSite(client);
      const own = clients.allowances(client);
      if (site === undefined) return own;
      const shared = sites.allowances(site);
      return own.map((allowance, nth) => {
        const { left, seconds } = shared[nth] ?? allowance;
        return left < allowance.left ? { ...allowance, left, seconds } : allowance;
      });
    },
  };
}

/** A limit that knows whether any client has to wait, without knowing which. Redirects check this first. */
function createScanLimit(windows: readonly Window[], options: LimitOptions) {
  const limit = createClientLimit(windows, options);
  /** When no client has to wait any more. 0 if none has to wait. */
  let untilMs = 0;
  function noteWait<T>(client: string, result: T): T {
    const waitMs = limit.wait(client) * 1000;
    if (waitMs > 0) untilMs = Math.max(untilMs, options.clock.monotonicMs() + waitMs);
    return result;
  }

  return {
    ...limit,
    take: (client: string, things = 1) => noteWait(client, limit.take(client, things)),
    charge: (client: string, things: number) => noteWait(client, limit.charge(client, things)),
    isAnyWaiting(): boolean {
      if (untilMs !== 0 && options.clock.monotonicMs() >= untilMs) untilMs = 0;
      return untilMs !== 0;
    },
  };
}

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
