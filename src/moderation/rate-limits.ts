import { clientSite } from "../lib/client-address.ts";
import { createRateLimit, type LimitOptions, type RateLimit, type Window } from "./cell-rate.ts";

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

/** Fewer than a limit of clients has, because there are fewer /48 networks than clients. */
const SITE_SETS = 2048;
/** A /48 gets this many times a client's limit. Offices use a few /64, and an attacker can use all 65,536. */
export const CLIENTS_OF_SITE = 16;

function times(windows: readonly Window[], factor: number): Window[] {
  return windows.map(({ count, ms }) => ({ count: count * factor, ms }));
}

/** Counts each client, and for IPv6 also its /48. Clients are results of {@link clientNetwork}. @internal */
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
