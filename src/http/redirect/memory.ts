import type { Memory } from "../../links/changes.ts";
import type { Clock } from "../../links/clock.ts";
import { lookUpCode } from "../../links/code.ts";
import type { Links } from "../../links/links.ts";
import type { Problem } from "../../links/problem.ts";
import { type Counter, counterOf } from "../../visits/recorder.ts";
import { createCache } from "./cache.ts";

/** In bytes. Half of it, some 100,000 links with targets of 80 characters, is sure to be remembered. */
const CACHE_BYTES = 96 * 1024 * 1024;
/** Measured: what an entry takes beside the characters of its code and target. */
const ENTRY_BYTES = 424;

/** What the redirect needs of a link. */
export interface Entry extends Counter {
  readonly endsMs: number;
  readonly target: string;
}

export interface LinkMemory extends Memory {
  /** Undefined where the store must be asked: an ended link's code may have been given anew. */
  get(spelling: string, nowMs: number): Entry | undefined;
  /** Asks the store, once however many wait for one spelling. */
  lookUp(spelling: string): Promise<Entry | Problem>;
}

/** The links that were visited lately. Only links that lead somewhere are remembered: never a 404 or 410. */
export function createLinkMemory(links: Pick<Links, "resolve">, clock: Clock): LinkMemory {
  // By the code as stored, which is how most addresses spell it: they need no normalising.
  const cache = createCache<Entry>(
    CACHE_BYTES,
    (code, { target }) => ENTRY_BYTES + code.length + target.length,
  );
  const inFlight = new Map<string, Promise<Entry | Problem>>();
  /** How often something was forgotten. */
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
    if ("kind" in link) return link;
    const known = get(link.code, clock.nowMs());
    if (known !== undefined) return known;
    const entry: Entry = { ...counterOf(link), endsMs: link.endsMs, target: link.target };
    // What was forgotten meanwhile may be this link: the answer came from before its change.
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

  /** Of an earlier question only a link is shared: what was not there when it was asked may be there now. */
  async function join(early: Promise<Entry | Problem>, spelling: string): Promise<Entry | Problem> {
    const found = await early;
    return "target" in found ? found : (inFlight.get(spelling) ?? ask(spelling));
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
