import type { Code } from "./code.ts";
import type { Link } from "./link.ts";

/**
 * Where links are kept. Every implementation passes `test/stores/links.ts`.
 *
 * To the store a code is an opaque key, compared by its bytes. A method that cannot answer rejects with
 * {@link StoreUnavailable}; no method ever answers "not there" because it could not look.
 */
export interface LinkStore {
  /**
   * Adds links, each on its own: `taken` for one never fails its neighbours. Resolves after everything it
   * reports as `inserted` is durable (survives a power cut). Of any number of concurrent inserts of one
   * code, over all processes, exactly one is `inserted`. A code whose link ended at or before the row's
   * `freeIfEndedByMs` is given anew, and nothing of the old link is inherited.
   */
  insert(rows: readonly NewLink[]): Promise<readonly InsertOutcome[]>;
  /** The link of this code, ended or not, as soon as its insert was reported by any process. */
  find(code: Code): Promise<Link | undefined>;
  /** Deletes at most `limit` links that ended at or before `endedByMs`, and says how many. */
  purge(endedByMs: number, limit: number): Promise<number>;
  /** About how many links there are, never too few by more than what a second adds. Cheap. */
  size(): Promise<number>;
  /** Finishes what was accepted, makes the files whole and lets go of them. */
  close(): Promise<void>;
}

export interface NewLink extends Link {
  readonly freeIfEndedByMs: number;
}

export type InsertOutcome = "inserted" | "taken";

/** The store cannot answer now: busy, full, locked, away. A caller may try again. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
}
