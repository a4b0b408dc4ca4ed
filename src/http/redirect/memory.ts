import type { Memory } from "../../links/changes.ts";
import type { Clock } from "../../links/clock.ts";
import type { Code } from "../../links/code.ts";
import type { Links } from "../../links/links.ts";
import type { Problem } from "../../links/problem.ts";
import { type Counter, counterOf } from "../../visits/recorder.ts";
import { createCache } from "./cache.ts";

/** In bytes. Half of it, some 100,000 links with targets of 80 characters, is sure to be remembered. */
const CACHE_BYTES = 96 * 1024 * 1024;
/** Measured: what an entry takes beside the characters of its code and target. */
const ENTRY_BYTES = 400;

/** What the redirect needs of a link. */
export interface Entry extends Counter {
  readonly endsMs: number;
  readonly target: string;
}

export interface LinkMemory extends Memory {
  /**
   * Undefined where the store must be asked: an ended link's code may have been given anew. Most addresses spell a code
   * as it is stored, so it is worth asking with a spelling that has not been normalised.
   */
  get(code: string, nowMs: number): Entry | undefined;
  /** Asks the store, once however many wait for one code. */
  lookUp(code: Code): Promise<Entry | Problem>;
}

/** The links that were visited lately. Only links that lead somewhere are remembered: never a 404 or 410. */
export function createLinkMemory(links: Pick<Links, "resolve">, clock: Clock): LinkMemory {
  const cache = createCache<Entry>(
    CACHE_BYTES,
    (code, { target }) => ENTRY_BYTES + code.length + target.length,
  );
  const inFlight = new Map<Code, Promise<Entry | Problem>>();
  /** How often something was forgotten. */
  let forgotten = 0;

  function get(code: string, nowMs: number): Entry | undefined {
    const entry = cache.get(code);
    return entry !== undefined && nowMs < entry.endsMs ? entry : undefined;
  }

  async function find(code: Code): Promise<Entry | Problem> {
    const forgottenBefore = forgotten;
    const link = await links.resolve(code);
    if ("kind" in link) return link;
    const known = get(link.code, clock.nowMs());
    if (known !== undefined) return known;
    const entry: Entry = { ...counterOf(link), endsMs: link.endsMs, target: link.target };
    // What was forgotten meanwhile may be this link: the answer came from before its change.
    if (forgotten === forgottenBefore) cache.set(link.code, entry);
    return entry;
  }

  function ask(code: Code): Promise<Entry | Problem> {
    const found = find(code);
    const settle = () => void inFlight.delete(code);
    inFlight.set(code, found);
    found.then(settle, settle);
    return found;
  }

  /** Of an earlier question only a link is shared: what was not there when it was asked may be there now. */
  async function join(early: Promise<Entry | Problem>, code: Code): Promise<Entry | Problem> {
    const found = await early;
    return "target" in found ? found : (inFlight.get(code) ?? ask(code));
  }

  return {
    get,
    lookUp(code) {
      const early = inFlight.get(code);
      return early === undefined ? ask(code) : join(early, code);
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
