import type { Memory } from "../links/change-feed.ts";
import type { Clock } from "../links/clock.ts";
import type { Code } from "../links/code.ts";
import { isGuarded, type Public } from "../links/link.ts";
import type { Links } from "../links/links.ts";
import { isProblem, type Problem } from "../links/problem.ts";
import { createLinkTable, type Entry } from "./link-table.ts";

/** Enough for 230,000 links with targets of 80 characters. */
export const MAX_BYTES = 32 * 1024 * 1024;

/** A link that is never cached, because each visit needs a check or has a Location of its own. See `gate.ts`. */
export interface GuardedLink {
  readonly link: Public;
}

/** Only an entry has a `target`, so one look at the properties recognizes a plain link. */
export type LookUpResult = Entry | GuardedLink | Problem;

export interface LinkCache extends Memory<Code> {
  /**
   * Undefined if only the store knows. That includes ended links, because their code may be reused. Most addresses spell a code
   * as stored, so trying a spelling before normalisation pays off.
   */
  get(code: string, nowMs: number): Entry | undefined;
  /**
   * Reads the store. Returns a promise only if the store is asynchronous. Concurrent look-ups of a code share one query.
   */
  lookUp(code: Code): LookUpResult | Promise<LookUpResult>;
  /** Whether there is a link of this code, in any state. */
  exists(code: Code): boolean | Promise<boolean>;
  /** Stores the recorder's fields of the entry, which makes the next visit cheaper. */
  keep(entry: Entry): void;
  /** How many links are cached. */
  size(): number;
}

/**
 * A cache of recently visited links. It never holds a 404 or 410, so a link that another process creates, or that starts now,
 * works immediately.
 */
export function createLinkCache(
  { resolve, resolveNow }: Pick<Links, "resolve" | "resolveNow">,
  clock: Clock,
  keyPrefix = "",
): LinkCache {
  const table = createLinkTable(MAX_BYTES, keyPrefix);
  const inFlight = new Map<Code, Promise<LookUpResult>>();
  /** Calls of `forget` and `forgetAll`. */
  let evictions = 0;

  function get(code: string, nowMs: number): Entry | undefined {
    const entry = table.get(code);
    return entry !== undefined && nowMs < entry.endsMs ? entry : undefined;
  }

  async function find(code: Code): Promise<LookUpResult> {
    const evictionsBefore = evictions;
    const link = await resolve(code);
    if (isProblem(link)) return link;
    if (isGuarded(link)) return { link };
    const known = get(link.code, clock.nowMs());
    if (known !== undefined) return known;
    const entry = table.set(link);
    // An eviction meanwhile may concern this link. Then the result may be older than the change.
    if (evictions !== evictionsBefore) table.delete(link.code);
    return entry;
  }

  function query(code: Code): Promise<LookUpResult> {
    const result = find(code);
    const settle = () => {
      if (inFlight.get(code) === result) inFlight.delete(code);
    };
    inFlight.set(code, result);
    result.then(settle, settle);
    return result;
  }

  /**
   * Waits for a running query. If it finds no link, queries again: the link may have been created after the query started.
   */
  async function join(running: Promise<LookUpResult>, code: Code): Promise<LookUpResult> {
    const result = await running;
    return isProblem(result) ? (inFlight.get(code) ?? query(code)) : result;
  }

  function findNow(now: (code: Code) => Public | Problem, code: Code): LookUpResult {
    const link = now(code);
    if (isProblem(link)) return link;
    return isGuarded(link) ? { link } : table.set(link);
  }

  function lookUp(code: Code): LookUpResult | Promise<LookUpResult> {
    if (resolveNow !== undefined) return findNow(resolveNow, code);
    const running = inFlight.get(code);
    return running === undefined ? query(code) : join(running, code);
  }

  return {
    get,
    lookUp,
    exists(code) {
      const result = get(code, clock.nowMs()) ?? lookUp(code);
      return result instanceof Promise ? result.then(isKnown) : isKnown(result);
    },
    keep: table.keep,
    size: () => table.size,
    // Later look-ups must not get the result of an earlier query.
    forget(code) {
      evictions++;
      inFlight.delete(code);
      table.delete(code);
    },
    forgetAll() {
      evictions++;
      inFlight.clear();
      table.clear();
    },
  };
}

function isKnown(result: LookUpResult): boolean {
  return !isProblem(result) || result.kind !== "unknown";
}
