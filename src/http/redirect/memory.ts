import type { Memory } from "../../links/changes.ts";
import type { Clock } from "../../links/clock.ts";
import { lookUpCode } from "../../links/code.ts";
import type { Links } from "../../links/links.ts";
import { isProblem, type Problem } from "../../links/problem.ts";
import { type Counter, counterOf } from "../../visits/recorder.ts";
import { createCache } from "./cache.ts";

/** Half of it is always used for the most recent links: about 100,000 with targets of 80 characters. */
const CACHE_BYTES = 96 * 1024 * 1024;
/** What an entry takes besides the characters of its code and target. Measured. */
const ENTRY_BYTES = 400;

/** The part of a link that the redirect needs. */
export interface Entry extends Counter {
  readonly endsMs: number;
  readonly target: string;
}

export interface LinkMemory extends Memory {
  /** Undefined if the store must be asked. This includes links that have ended, because their code may be reused. */
  get(spelling: string, nowMs: number): Entry | undefined;
  /** Asks the store. Concurrent look-ups of the same spelling share one query. */
  lookUp(spelling: string): Promise<Entry | Problem>;
}

/**
 * A cache of links that were visited recently. It never holds a 404 or 410, so a link that another process makes works
 * at once.
 */
export function createLinkMemory(links: Pick<Links, "resolve">, clock: Clock): LinkMemory {
  // The keys are codes as stored. Most addresses spell them the same way, so they can be found without normalising.
  const cache = createCache<Entry>(
    CACHE_BYTES,
    (code, { target }) => ENTRY_BYTES + code.length + target.length,
  );
  const inFlight = new Map<string, Promise<Entry | Problem>>();
  /** How often `forget` or `forgetAll` was called. */
  let forgotten = 0;

  function get(spelling: string, nowMs: number): Entry | undefined {
    const entry = cache.get(spelling) ?? getAs(lookUpCode(spelling), spelling);
    return entry !== undefined && nowMs < entry.endsMs ? entry : undefined;
  }

  function getAs(code: string | undefined, spelling: string): Entry | undefined {
    return code === undefined || code === spelling ? undefined : cache.get(code);
  }

  async function find(spelling: string): Promise<Entry | Problem> {
    const forgottenBefore = forgotten;
    const link = await links.resolve(spelling);
    if (isProblem(link)) return link;
    const known = get(link.code, clock.nowMs());
    if (known !== undefined) return known;
    const entry: Entry = { ...counterOf(link), endsMs: link.endsMs, target: link.target };
    // If anything was forgotten meanwhile, it may be this link. Then the answer may be older than the change.
    if (forgotten === forgottenBefore) cache.set(link.code, entry);
    return entry;
  }

  function ask(spelling: string): Promise<Entry | Problem> {
    const found = find(spelling);
    const settle = () => void inFlight.delete(spelling);
    inFlight.set(spelling, found);
    found.then(settle, settle);
    return found;
  }

  /**
   * Waits for a query that is already running. If it finds no link, asks again: the link may have been made after the
   * query started.
   */
  async function join(early: Promise<Entry | Problem>, spelling: string): Promise<Entry | Problem> {
    const found = await early;
    return isProblem(found) ? (inFlight.get(spelling) ?? ask(spelling)) : found;
  }

  return {
    get,
    lookUp(spelling) {
      const early = inFlight.get(spelling);
      return early === undefined ? ask(spelling) : join(early, spelling);
    },
    forget(code) {
      forgotten++;
      cache.delete(code);
    },
    forgetAll() {
      forgotten++;
      cache.clear();
    },
  };
}
