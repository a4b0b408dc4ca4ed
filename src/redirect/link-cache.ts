import type { Memory } from "../links/change-feed.ts";
import type { Clock } from "../links/clock.ts";
import type { Code } from "../links/code.ts";
import { isGuarded, type Link } from "../links/link.ts";
import type { Links } from "../links/links.ts";
import { isProblem, type Problem } from "../links/problem.ts";
import { createLinkTable, type Entry } from "./link-table.ts";

/** Enough for 230,000 links with targets of 80 characters. */
const MAX_BYTES = 32 * 1024 * 1024;

/** A link that is never remembered, because more than the time decides each visit. See `gate.ts`. */
export interface Guarded {
  readonly kind: "guarded";
  readonly link: Link;
}

/** What a look-up finds. A guarded link is told apart like a problem, so that plain links pay nothing for it. */
export type Found = Entry | Guarded | Problem;

export interface LinkMemory extends Memory {
  /**
   * Undefined if the store must be asked. This includes links that have ended, because their code may be reused. Most
   * addresses spell a code as it is stored, so it is worth asking with a spelling that has not been normalised.
   */
  get(code: string, nowMs: number): Entry | undefined;
  /**
   * Asks the store. Returns a promise only if the store has to be waited for. Concurrent look-ups of the same code
   * share one query.
   */
  lookUp(code: Code): Found | Promise<Found>;
  /** Keeps what the recorder wrote into the entry, so that the next visit costs less. */
  keep(entry: Entry): void;
  /** How many links it has. */
  size(): number;
}

/**
 * A cache of links that were visited recently. It never holds a 404 or 410, so a link that another process makes, or
 * that begins now, works at once.
 */
export function createLinkMemory(
  { resolve, resolveNow }: Pick<Links, "resolve" | "resolveNow">,
  clock: Clock,
): LinkMemory {
  const table = createLinkTable(MAX_BYTES);
  const inFlight = new Map<Code, Promise<Found>>();
  /** How often `forget` or `forgetAll` was called. */
  let forgotten = 0;

  function get(code: string, nowMs: number): Entry | undefined {
    const entry = table.get(code);
    return entry !== undefined && nowMs < entry.endsMs ? entry : undefined;
  }

  async function find(code: Code): Promise<Found> {
    const forgottenBefore = forgotten;
    const link = await resolve(code);
    if (isProblem(link)) return link;
    if (isGuarded(link)) return { kind: "guarded", link };
    const known = get(link.code, clock.nowMs());
    if (known !== undefined) return known;
    const entry = table.set(link);
    // If anything was forgotten meanwhile, it may be this link. Then the answer may be older than the change.
    if (forgotten !== forgottenBefore) table.delete(link.code);
    return entry;
  }

  function ask(code: Code): Promise<Found> {
    const found = find(code);
    const settle = () => {
      if (inFlight.get(code) === found) inFlight.delete(code);
    };
    inFlight.set(code, found);
    found.then(settle, settle);
    return found;
  }

  /**
   * Waits for a query that is already running. If it finds no link, asks again: the link may have been made after the
   * query started.
   */
  async function join(early: Promise<Found>, code: Code): Promise<Found> {
    const found = await early;
    const isThere = !isProblem(found) || found.kind === "guarded";
    return isThere ? found : (inFlight.get(code) ?? ask(code));
  }

  function findNow(now: (code: Code) => Link | Problem, code: Code): Found {
    const link = now(code);
    if (isProblem(link)) return link;
    return isGuarded(link) ? { kind: "guarded", link } : table.set(link);
  }

  return {
    get,
    lookUp(code) {
      if (resolveNow !== undefined) return findNow(resolveNow, code);
      const early = inFlight.get(code);
      return early === undefined ? ask(code) : join(early, code);
    },
    keep: table.keep,
    size: () => table.size,
    // Whoever asks from now on must not be given the answer to an earlier query.
    forget(code) {
      forgotten++;
      inFlight.delete(code);
      table.delete(code);
    },
    forgetAll() {
      forgotten++;
      inFlight.clear();
      table.clear();
    },
  };
}
