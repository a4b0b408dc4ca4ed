import type { Clock } from "../links/clock.ts";
import { StoreUnavailable } from "../links/store.ts";
import { createDaySalt, type DaySaltOptions, saltedHash } from "./day-salt.ts";
import { createLimit, type Limit, type LimitOptions, type Window } from "./limits.ts";

/**
 * Counts what clients do, for all processes together. A client is 32 hexadecimal digits, which tell nothing about its
 * address. What is counted need not survive a crash of the store.
 */
export interface SharedCounts {
  /** Counts so many things more, unless the client has to wait before it may do all of them. */
  take(client: string, things: number): Promise<Taken>;
  /** Undoes a `take` that was counted, or a part of it. */
  giveBack(client: string, things: number): Promise<void>;
}

export interface Taken {
  readonly isCounted: boolean;
  /** What is not paid off yet, for each window: milliseconds times its count. See {@link createLimit}. */
  readonly owed: readonly number[];
}

/** A limit that the store counts as well. */
export interface SharedLimit extends Limit {
  /**
   * Counts in the store what `take` has counted here. Resolves with what undoes that, or with undefined if the client has
   * done too much in all processes together. While the store cannot answer, it counts for nothing.
   */
  share(client: string, things: number): Promise<GiveBack | undefined>;
}

/** Undoes so much of what was counted. */
export type GiveBack = (things: number) => void;

export interface SharedLimitOptions extends LimitOptions, DaySaltOptions {
  readonly clock: Clock;
  readonly counts: SharedCounts;
  /** How long a client waits for the store. */
  readonly waitMs?: number | undefined;
}

const WAIT_MS = 100;
/** How long the store is not asked after it did not answer. */
const PAUSE_MS = 1000;
/** How long what the store told is believed. It may have counted what fails in another process, and is then given back. */
const TOLD_MS = 10_000;
/** In hexadecimal digits: 128 bits. */
const CLIENT_LENGTH = 32;

/**
 * Two limits: what this process counts, and what the store told about all of them. Whoever is over one of them is refused
 * without asking the store.
 */
export function shareLimit(windows: readonly Window[], options: SharedLimitOptions): SharedLimit {
  const { clock, counts, waitMs = WAIT_MS } = options;
  const own = createLimit(windows, options);
  const told = createLimit(windows, options);
  const justTold = createLimit([{ count: 1, ms: TOLD_MS }], options);
  const saltNow = createDaySalt(options);
  // Processes with other windows count apart from these.
  const kind = ["limit", ...windows.map(({ count, ms }) => `${count}/${ms}`)].join("\t");
  let pausedUntilMs = 0;

  /** Undefined if the store has not told of the client lately. */
  const toldOf = (client: string) => (justTold.wait(client) > 0 ? told : undefined);

  async function ask(client: string, things: number): Promise<GiveBack | undefined> {
    const { salt } = await saltNow();
    const hash = saltedHash(salt, `${kind}\t${client}`, CLIENT_LENGTH);
    const { isCounted, owed } = await counts.take(hash, things);
    told.put(client, owed);
    justTold.put(client, [TOLD_MS]);
    if (!isCounted) return undefined;
    return (back) => {
      told.giveBack(client, back);
      // If it is lost, the client has done so much more.
      counts.giveBack(hash, back).catch(() => {});
    };
  }

  function goOnAlone(): GiveBack {
    pausedUntilMs = clock.monotonicMs() + PAUSE_MS;
    return () => {};
  }

  return {
    most: own.most,
    wait: (client, things) => Math.max(own.wait(client, things), toldOf(client)?.wait(client, things) ?? 0),
    // Several are asked for in any case: what was told may have been given back since.
    take: (client, things) => toldOf(client)?.wait(client) || own.take(client, things),
    giveBack: own.giveBack,
    allowances(client) {
      const others = toldOf(client)?.allowances(client) ?? [];
      return own.allowances(client).map((mine, nth) => {
        const other = others[nth] ?? mine;
        return other.left < mine.left || (other.left === mine.left && other.seconds > mine.seconds)
          ? other
          : mine;
      });
    },
    async share(client, things) {
      if (clock.monotonicMs() < pausedUntilMs) return () => {};
      const { promise: late, resolve } = Promise.withResolvers<GiveBack>();
      const timer = setTimeout(() => resolve(goOnAlone()), waitMs);
      const asked = ask(client, things).catch((error: unknown) => {
        if (error instanceof StoreUnavailable) return goOnAlone();
        throw error;
      });
      try {
        return await Promise.race([asked, late]);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
