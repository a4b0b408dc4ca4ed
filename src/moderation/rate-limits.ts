import type { Clock } from "../links/clock.ts";

/** So many of something in so much time. */
export interface Window {
  readonly count: number;
  readonly ms: number;
}

/** What a client may still do within a window. */
export interface Allowance extends Window {
  readonly left: number;
  /** Until there is one more, in seconds, rounded up. 0 if nothing is used. */
  readonly seconds: number;
}

/** Limits what each client does. A client is any text, such as an address. */
export interface Limit {
  /** How many things a client may do at once, if it did nothing before. */
  readonly most: number;
  /** How long the client has to wait before it may do so many things (default: one), in seconds, rounded up. 0 if it need not. */
  wait(client: string, things?: number): number;
  /** Counts so many more, unless the client has to wait. Returns what `wait` returned before. Give it at most `most` things. */
  take(client: string, things?: number): number;
  /** Undoes a `take`, or a part of it. */
  giveBack(client: string, things?: number): void;
  /** One for each window. */
  allowances(client: string): Allowance[];
}

/** What is limited. */
export type LimitName = "create" | "unknown" | "view" | "report" | "password";

/** Those that are on. */
export type Limits = { readonly [name in LimitName]?: Limit | undefined } & {
  /**
   * Counts the addresses that a client asks for beyond `unknown`. With both used up, it has asked for a hundred times as
   * many as `unknown` allows.
   */
  readonly scan?: Limit | undefined;
  /** The same for the password of a link, by everybody together. Its clients are links. */
  readonly passwordOfLink?: Limit | undefined;
  /** Checks of passwords, right or wrong. */
  readonly passwordCheck?: Limit | undefined;
  /** Wrong tokens of the operator. Undefined if there is no right one. */
  readonly wrongToken?: Limit | undefined;
};

const WRONG_TOKENS: Window = { count: 10, ms: 60_000 };
/** Each takes about 40 ms of a core. Visitors of one link and an office behind one address need far fewer. */
const PASSWORD_CHECKS: Window = { count: 60, ms: 60_000 };

export interface LimitsOptions extends LimitOptions {
  readonly limitCreate: readonly Window[];
  readonly limitUnknown: readonly Window[];
  readonly limitView: readonly Window[];
  readonly limitReport: readonly Window[];
  readonly limitPasswords: readonly Window[];
  readonly adminToken?: string | null;
}

/**
 * Far beyond what a broken page or a busy network asks for, because a client over this limit is not redirected by links
 * that are not in memory. It is still too little to find codes: one in 10,000 is in use at most.
 */
const TIMES_BEYOND = 99;

/**
 * So many clients together may try the password of a link. Many addresses are then hardly better at guessing than a few,
 * but somebody with a few cannot keep everybody else out.
 */
const TRYING_CLIENTS = 10;

export function createLimits(options: LimitsOptions): Limits {
  const limit = (windows: readonly Window[]) =>
    windows.length === 0 ? undefined : createLimit(windows, options);
  const { limitUnknown, limitPasswords } = options;
  return {
    create: limit(options.limitCreate),
    unknown: limit(limitUnknown),
    // Paid off at the same pace: a client that goes on is looked up again as often as `unknown` allows.
    scan: limit(
      limitUnknown.map(({ count, ms }) => ({ count: count * TIMES_BEYOND, ms: ms * TIMES_BEYOND })),
    ),
    view: limit(options.limitView),
    report: limit(options.limitReport),
    password: limit(limitPasswords),
    passwordOfLink: limit(limitPasswords.map(({ count, ms }) => ({ count: count * TRYING_CLIENTS, ms }))),
    passwordCheck: limitPasswords.length === 0 ? undefined : limit([PASSWORD_CHECKS]),
    wrongToken: options.adminToken ? limit([WRONG_TOKENS]) : undefined,
  };
}

export interface LimitOptions {
  readonly clock: Pick<Clock, "monotonicMs">;
  /** A secret: whoever knows it can choose addresses that share a set. */
  readonly seed: bigint;
}

/**
 * Clients that are remembered, in sets of a few. A client can only be in the set that its hash chooses. With two windows,
 * an entry takes 24 bytes, so a limit takes 3 MiB however many clients there are.
 */
const SETS = 16_384;
const WAYS = 8;

/**
 * The generic cell rate algorithm: a client may do `count` things at once, then one every `ms / count`. An entry holds,
 * for each window, the time at which everything the client has done is paid off.
 *
 * Times are kept in milliseconds times `count`, where one thing costs exactly `ms`: these are whole numbers, so sums have
 * no rounding errors.
 *
 * When a set is full, a new client takes the place of the one that is nearest to having nothing counted. So whoever has many
 * addresses can make Curt forget other clients, but never block them, and a client that is over a limit is forgotten last.
 */
export function createLimit(windows: readonly Window[], { clock, seed }: LimitOptions): Limit {
  const hashes = new Float64Array(SETS * WAYS);
  const paidOff = new Float64Array(SETS * WAYS * windows.length);
  const now = () => Math.floor(clock.monotonicMs());

  /** The client's entry, or -1. */
  function find(hash: number): number {
    const first = firstOf(hash);
    for (let entry = first; entry < first + WAYS; entry++) if (hashes[entry] === hash) return entry;
    return -1;
  }

  /** When an entry has nothing counted any more, in milliseconds. */
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

  /** What is not paid off yet. One thing costs the window's `ms`. */
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

  return {
    most: Math.min(...windows.map(({ count }) => count)),

    wait: (client, things = 1) => waitSeconds(find(hashOf(client, seed)), now(), things),

    take(client, things = 1) {
      const hash = hashOf(client, seed);
      const nowMs = now();
      const known = find(hash);
      const seconds = waitSeconds(known, nowMs, things);
      if (seconds > 0) return seconds;
      const entry = known < 0 ? replace(hash) : known;
      for (const [nth, window] of windows.entries())
        paidOff[entry * windows.length + nth] =
          nowMs * window.count + owed(entry, nth, window, nowMs) + window.ms * things;
      return 0;
    },

    giveBack(client, things = 1) {
      const entry = find(hashOf(client, seed));
      if (entry < 0) return;
      for (const [nth, { ms }] of windows.entries()) {
        const place = entry * windows.length + nth;
        paidOff[place] = Math.max(0, (paidOff[place] ?? 0) - ms * things);
      }
    },

    allowances(client) {
      const entry = find(hashOf(client, seed));
      const nowMs = now();
      return windows.map((window, nth) => {
        const { count, ms } = window;
        const used = owed(entry, nth, window, nowMs);
        const things = Math.ceil(used / ms);
        const nextMs = things === 0 ? 0 : (used - (things - 1) * ms) / count;
        return { count, ms, left: count - things, seconds: Math.ceil(nextMs / 1000) };
      });
    },
  };
}

/** 52 bits of a hash: a number, because a BigInt costs as much as the rest of a look-up. */
function hashOf(client: string, seed: bigint): number {
  // 0 marks an entry that was never used.
  return Number(Bun.hash(client, seed) >> 12n) || 1;
}

function firstOf(hash: number): number {
  return (hash % SETS) * WAYS;
}
