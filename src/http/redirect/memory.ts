import type { Memory } from "../../links/changes.ts";
import type { Clock } from "../../links/clock.ts";
import type { Code } from "../../links/code.ts";
import type { Link } from "../../links/link.ts";
import type { Links } from "../../links/links.ts";
import { isProblem, type Problem } from "../../links/problem.ts";
import { type Counter, counterOf } from "../../visits/recorder.ts";
import { createCache } from "./cache.ts";

/** Half of it is always used for the most recent links: about 100,000 with targets of 80 characters. */
const CACHE_BYTES = 96 * 1024 * 1024;
/** What an entry takes besides the characters of its code and target. Measured. */
const ENTRY_BYTES = 424;

/** The part of a link that the redirect needs. */
export interface Entry extends Counter {
  readonly endsMs: number;
  readonly target: string;
  /** Until then, people see the preview first. Missing if they never do. */
  readonly previewUntilMs?: number;
}

export interface LinkMemory extends Memory {
  /**
   * Undefined if the store must be asked. This includes links that have ended, because their code may be reused. Most
   * addresses spell a code as it is stored, so it is worth asking with a spelling that has not been normalised.
   */
  get(code: string, nowMs: number): Entry | undefined;
  /** Asks the store. Concurrent look-ups of the same code share one query. */
  lookUp(code: Code): Promise<Entry | Problem>;
}

/** Until when people see the preview of a link first, in Unix milliseconds. It is asked once for each cached link. */
export type PreviewUntil = (link: Link) => Promise<number>;

/**
 * A cache of links that were visited recently. It never holds a 404 or 410, so a link that another process makes works
 * at once.
 */
export function createLinkMemory(
  links: Pick<Links, "resolve">,
  clock: Clock,
  previewUntil?: PreviewUntil,
): LinkMemory {
  const cache = createCache<Entry>(
    CACHE_BYTES,
    (code, { target }) => ENTRY_BYTES + code.length + target.length,
  );
  const inFlight = new Map<Code, Promise<Entry | Problem>>();
  /** How often `forget` or `forgetAll` was called. */
  let forgotten = 0;

  function get(code: string, nowMs: number): Entry | undefined {
    const entry = cache.get(code);
    return entry !== undefined && nowMs < entry.endsMs ? entry : undefined;
  }

  async function find(code: Code): Promise<Entry | Problem> {
    const forgottenBefore = forgotten;
    const link = await links.resolve(code);
    if (isProblem(link)) return link;
    const previewUntilMs = previewUntil === undefined ? undefined : await previewUntil(link);
    const known = get(link.code, clock.nowMs());
    if (known !== undefined) return known;
    const leading = { ...counterOf(link), endsMs: link.endsMs, target: link.target };
    const entry: Entry = previewUntilMs === undefined ? leading : { ...leading, previewUntilMs };
    // If anything was forgotten meanwhile, it may be this link. Then the answer may be older than the change.
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

  /**
   * Waits for a query that is already running. If it finds no link, asks again: the link may have been made after the
   * query started.
   */
  async function join(early: Promise<Entry | Problem>, code: Code): Promise<Entry | Problem> {
    const found = await early;
    return isProblem(found) ? (inFlight.get(code) ?? ask(code)) : found;
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
