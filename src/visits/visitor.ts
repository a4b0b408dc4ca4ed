import { createHmac } from "node:crypto";

import { DAY_MS, HOUR_MS } from "../links/time.ts";
import type { VisitStore } from "./store.ts";

/** Tomorrow's salt is fetched this long before tomorrow, so that midnight does not depend on the store. */
const AHEAD_MS = HOUR_MS;
/** Addresses that are remembered with their hash; forgotten with the day. */
const MAX_ADDRESSES = 20_000;

export interface VisitorsOptions {
  readonly store: Pick<VisitStore, "salt">;
  /** Fills an array with bytes from a CSPRNG. */
  readonly fillRandom: (bytes: Uint8Array) => void;
}

/**
 * Visitors as numbers that mean nothing tomorrow: HMAC-SHA-256 of the address with a salt that all processes share
 * for one day (UTC) and then forget.
 */
export function createVisitors({ store, fillRandom }: VisitorsOptions) {
  const salts = new Map<number, Uint8Array>();
  let day = -1;
  let hashes = new Map<string, number>();

  function saltOf(wanted: number): Uint8Array {
    const shared = salts.get(wanted);
    if (shared !== undefined) return shared;
    // The store is away: a visitor may be counted once in each process.
    const own = new Uint8Array(32);
    fillRandom(own);
    salts.set(wanted, own);
    return own;
  }

  return {
    /** Fetches the salts that are needed next. */
    async prepare(nowMs: number): Promise<void> {
      const [today, soon] = [nowMs, nowMs + AHEAD_MS].map((ms) => Math.floor(ms / DAY_MS));
      for (const wanted of new Set([today ?? 0, soon ?? 0])) {
        if (!salts.has(wanted)) salts.set(wanted, await store.salt(wanted, today ?? 0));
      }
      for (const known of salts.keys()) if (known < (today ?? 0)) salts.delete(known);
    },
    /** A uint32. `agentHash` tells visitors behind one address apart. */
    hash(address: string, agentHash: number, nowMs: number): number {
      const today = Math.floor(nowMs / DAY_MS);
      if (today !== day) {
        day = today;
        hashes = new Map();
      }
      let hash = hashes.get(address);
      if (hash === undefined) {
        hash = createHmac("sha256", saltOf(today)).update(address).digest().readUInt32LE();
        if (hashes.size >= MAX_ADDRESSES) hashes.clear();
        hashes.set(address, hash);
      }
      return Math.imul(hash ^ agentHash, 0x9e37_79b1) >>> 0;
    },
  };
}

export type Visitors = ReturnType<typeof createVisitors>;
