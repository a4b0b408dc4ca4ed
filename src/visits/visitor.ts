import { DAY_MS, HOUR_MS } from "../links/time.ts";
import { halfSipHash } from "./siphash.ts";
import type { VisitStore } from "./store.ts";

/** Tomorrow's salt is fetched this long before tomorrow, so that midnight does not depend on the store. */
const AHEAD_MS = HOUR_MS;
/** Addresses that are remembered with their secrets; forgotten with the day. */
const MAX_ADDRESSES = 20_000;

export interface VisitorsOptions {
  readonly store: Pick<VisitStore, "salt">;
  /** Fills an array with bytes from a CSPRNG. */
  readonly fillRandom: (bytes: Uint8Array) => void;
}

/** A link, with its secret of one day: making that anew for each visit would cost most of what a visit costs. */
export interface KeyedLink {
  readonly text: string;
  readonly createdMs: number;
  keyDay: number;
  key0: number;
  key1: number;
}

/**
 * Visitors as numbers: keyed hashes (HMAC-SHA-256, then HalfSipHash) of address, agent and link, under a salt that all
 * processes share for one day (UTC) and then forget. Without the salt nobody can tell which number an address has, or
 * which numbers on two links are one visitor.
 */
export function createVisitors({ store, fillRandom }: VisitorsOptions) {
  const salts = new Map<number, Uint8Array>();
  let day = -1;
  let addresses = new Map<string, [number, number]>();

  function saltOf(wanted: number): Uint8Array {
    const shared = salts.get(wanted);
    if (shared !== undefined) return shared;
    // The store is away: a visitor may be counted once in each process.
    const own = new Uint8Array(32);
    fillRandom(own);
    salts.set(wanted, own);
    return own;
  }

  /** Two words of an HMAC. */
  function secret(kind: "address" | "link", text: string): [number, number] {
    const digest = new Bun.CryptoHasher("sha256", saltOf(day)).update(`${kind}\t${text}`).digest();
    return [digest.readInt32LE(0), digest.readInt32LE(4)];
  }

  function secretOf(address: string): [number, number] {
    let known = addresses.get(address);
    if (known === undefined) {
      known = secret("address", address);
      if (addresses.size >= MAX_ADDRESSES) addresses.clear();
      addresses.set(address, known);
    }
    return known;
  }

  return {
    /** Fetches the salts that are needed next. */
    async prepare(nowMs: number): Promise<void> {
      const [today, soon] = [nowMs, nowMs + AHEAD_MS].map((ms) => Math.floor(ms / DAY_MS));
      for (const wanted of new Set([today ?? 0, soon ?? 0])) {
        if (salts.has(wanted)) continue;
        const salt = await store.salt(wanted, today ?? 0);
        // Visits may have come meanwhile. Another salt would count their visitors once more.
        if (!salts.has(wanted)) salts.set(wanted, salt);
      }
      for (const known of salts.keys()) if (known < (today ?? 0)) salts.delete(known);
    },
    /**
     * Returns who visits, a browser at an address, as a uint32 that means nothing on another link or tomorrow.
     * `agentHash` tells visitors behind one address apart.
     */
    identify(link: KeyedLink, address: string, agentHash: number, nowMs: number): number {
      const today = Math.floor(nowMs / DAY_MS);
      if (today !== day) {
        day = today;
        addresses = new Map();
      }
      if (link.keyDay !== today) {
        [link.key0, link.key1] = secret("link", `${link.text}\t${link.createdMs}`);
        link.keyDay = today;
      }
      const [address0, address1] = secretOf(address);
      return halfSipHash(link.key0, link.key1, address0, address1, agentHash);
    },
  };
}

export type Visitors = ReturnType<typeof createVisitors>;
