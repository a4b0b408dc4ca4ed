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

/** Who visited a link, as uint32s that mean nothing on another link or tomorrow. */
export interface Identity {
  /** One browser at one address. */
  readonly visitor: number;
  /** All addresses of its network: {@link networkOf}. */
  readonly network: number;
}

/** Two words of the HMAC of an address, and two of its network's. */
type Secrets = readonly [address0: number, address1: number, network0: number, network1: number];

/**
 * Visitors as numbers: keyed hashes (HMAC-SHA-256, then HalfSipHash) of address, agent and link, under a salt that all
 * processes share for one day (UTC) and then forget. Without the salt nobody can tell which number an address has, or
 * which numbers on two links are one visitor.
 */
export function createVisitors({ store, fillRandom }: VisitorsOptions) {
  const salts = new Map<number, Uint8Array>();
  let day = -1;
  let addresses = new Map<string, Secrets>();

  function saltOf(wanted: number): Uint8Array {
    const shared = salts.get(wanted);
    if (shared !== undefined) return shared;
    // The store is away: a visitor may be counted once in each process.
    const own = new Uint8Array(32);
    fillRandom(own);
    salts.set(wanted, own);
    return own;
  }

  function secret(kind: "address" | "network" | "link", text: string): [number, number] {
    const digest = new Bun.CryptoHasher("sha256", saltOf(day)).update(`${kind}\t${text}`).digest();
    return [digest.readInt32LE(0), digest.readInt32LE(4)];
  }

  function secretsOf(address: string): Secrets {
    let secrets = addresses.get(address);
    if (secrets === undefined) {
      secrets = [...secret("address", address), ...secret("network", networkOf(address))];
      if (addresses.size >= MAX_ADDRESSES) addresses.clear();
      addresses.set(address, secrets);
    }
    return secrets;
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
    /** `agentHash` tells visitors behind one address apart. */
    identify(link: KeyedLink, address: string, agentHash: number, nowMs: number): Identity {
      const today = Math.floor(nowMs / DAY_MS);
      if (today !== day) {
        day = today;
        addresses = new Map();
      }
      if (link.keyDay !== today) {
        [link.key0, link.key1] = secret("link", `${link.text}\t${link.createdMs}`);
        link.keyDay = today;
      }
      const { key0, key1 } = link;
      const [address0, address1, network0, network1] = secretsOf(address);
      return {
        visitor: halfSipHash(key0, key1, address0, address1, agentHash),
        network: halfSipHash(key0, key1, network0, network1, 0),
      };
    },
  };
}

export type Visitors = ReturnType<typeof createVisitors>;

/**
 * What one household or company usually has, and may use any address of: the first three bytes of an IPv4 address, the
 * first 48 bits of an IPv6 address. Takes addresses as RFC 5952 writes them.
 */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address.slice(0, address.lastIndexOf("."));
  const [start = ""] = address.split("::", 1);
  const groups = start.split(":").map((group) => group || "0");
  return [...groups, "0", "0", "0"].slice(0, 3).join(":");
}
