import { fillRandom } from "../lib/random.ts";
import { DAY_MS, HOUR_MS } from "../links/time.ts";
import type { VisitStore } from "./days/visit-store.ts";
import { linkName } from "./journal/segment.ts";

/** Tomorrow's salt is fetched this long before tomorrow, so that midnight does not depend on the store. */
const AHEAD_MS = HOUR_MS;
/** Addresses whose keys are cached for the day. */
const MAX_ADDRESSES = 20_000;

/** A link with its key of one day. Deriving the key for each visit would take most of a visit's time. */
export interface KeyedLink {
  readonly keyPrefix: string;
  readonly text: string;
  readonly createdMs: number;
  keyDay: number;
  key0: number;
  key1: number;
}

/**
 * Turns visitors into numbers. These are keyed hashes (HMAC-SHA-256, then HalfSipHash) of address, agent and link. All
 * processes share their salt for one day (UTC) and then delete it. Without the salt, nobody can find the number of an
 * address, or link the numbers of one visitor on two links.
 */
export function createVisitors(store: Pick<VisitStore, "salt">) {
  const salts = new Map<number, Uint8Array>();
  let day = -1;
  let addresses = new Map<string, [number, number]>();

  function saltOf(saltDay: number): Uint8Array {
    const shared = salts.get(saltDay);
    if (shared !== undefined) return shared;
    // The store is unavailable, so a visitor may be counted once in each process.
    const own = fillRandom(new Uint8Array(32));
    salts.set(saltDay, own);
    return own;
  }

  /** Two words of an HMAC. */
  function deriveKey(kind: "address" | "link", text: string): [number, number] {
    const digest = new Bun.CryptoHasher("sha256", saltOf(day)).update(`${kind}\t${text}`).digest();
    return [digest.readInt32LE(0), digest.readInt32LE(4)];
  }

  function keyOf(address: string): [number, number] {
    let key = addresses.get(address);
    if (key === undefined) {
      key = deriveKey("address", address);
      if (addresses.size >= MAX_ADDRESSES) addresses.clear();
      addresses.set(address, key);
    }
    return key;
  }

  return {
    /** Fetches the salts that are needed next. */
    async prepare(nowMs: number): Promise<void> {
      const today = Math.floor(nowMs / DAY_MS);
      for (const needed of new Set([today, Math.floor((nowMs + AHEAD_MS) / DAY_MS)])) {
        if (salts.has(needed)) continue;
        const salt = await store.salt(needed, today);
        // Visits may have come meanwhile. Another salt would count their visitors once more.
        if (!salts.has(needed)) salts.set(needed, salt);
      }
      for (const known of salts.keys()) if (known < today) salts.delete(known);
    },
    /**
     * Returns the number of a visitor, a browser at an address. This uint32 means nothing on another link or tomorrow.
     * `agentHash` distinguishes visitors behind one address.
     */
    identify(link: KeyedLink, address: string, agentHash: number, nowMs: number): number {
      const today = Math.floor(nowMs / DAY_MS);
      if (today !== day) {
        day = today;
        addresses = new Map();
      }
      if (link.keyDay !== today) {
        [link.key0, link.key1] = deriveKey("link", linkName(link.keyPrefix, link.text, link.createdMs));
        link.keyDay = today;
      }
      const [address0, address1] = keyOf(address);
      return halfSipHash(link.key0, link.key1, address0, address1, agentHash);
    },
  };
}

export type Visitors = ReturnType<typeof createVisitors>;

/** The last word of HalfSipHash is the length of the message. */
const LENGTH = 12 << 24;

/**
 * HalfSipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012; the form for 32-bit words, 2016)
 * of three words under a key of two. All are 32 bits wide, signed or not; the result is a uint32. An HMAC would take
 * forty times as long.
 * @internal
 */
export function halfSipHash(key0: number, key1: number, one: number, two: number, three: number): number {
  let a = key0 | 0;
  let b = key1 | 0;
  let c = 0x6c79_6765 ^ key0;
  let d = 0x7465_6462 ^ key1;
  // Four words, then two final turns without a word. Each turn is two rounds.
  for (let turn = 0; turn < 6; turn++) {
    const word = turn === 0 ? one : turn === 1 ? two : turn === 2 ? three : turn === 3 ? LENGTH : 0;
    if (turn === 4) c ^= 0xff;
    d ^= word;
    for (let round = 0; round < 2; round++) {
      a = (a + b) | 0;
      b = ((b << 5) | (b >>> 27)) ^ a;
      a = (a << 16) | (a >>> 16);
      c = (c + d) | 0;
      d = ((d << 8) | (d >>> 24)) ^ c;
      a = (a + d) | 0;
      d = ((d << 7) | (d >>> 25)) ^ a;
      c = (c + b) | 0;
      b = ((b << 13) | (b >>> 19)) ^ c;
      c = (c << 16) | (c >>> 16);
    }
    a ^= word;
  }
  return (b ^ d) >>> 0;
}
