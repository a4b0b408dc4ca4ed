import type { Changes, Position } from "./changes.ts";
import type { Code } from "./code.ts";
import type { Link } from "./link.ts";
import type { Problem } from "./problem.ts";

/**
 * Where links are kept. Every implementation passes `test/stores/links.ts`.
 *
 * To the store a code is an opaque key, compared by its bytes. A method that cannot answer rejects with
 * {@link StoreUnavailable}; no method ever answers "not there" because it could not look.
 */
export interface LinkStore {
  /**
   * Adds links and answers for each, in their order, with the link or that its code is taken; one that is taken never
   * fails its neighbours. Resolves after every link in the answer is durable (survives a power cut). Of any number of
   * concurrent inserts of one code, over all processes, exactly one succeeds. A code whose link ended at or before the
   * new link's `freeIfEndedByMs` is given anew, and nothing of the old link is inherited.
   */
  insert(links: readonly NewLink[]): Promise<readonly (Link | Extract<Problem, { kind: "taken" }>)[]>;
  /** The link of this code, ended or not, as soon as its insert was reported by any process. */
  find(code: Code): Promise<Link | undefined>;
  /**
   * Ends a link at `endsMs`, durably, and records the change. False where there is no such link, or it ends at that
   * time or sooner anyway.
   */
  end(link: Pick<Link, "code" | "createdMs">, endsMs: number): Promise<boolean>;
  /**
   * The changes to existing links since a position, in the order of their commits, over all processes; without a
   * position only where the changes end now. Cheap where nothing changed.
   */
  changes(since?: Position): Promise<Changes>;
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

/** The store cannot answer now: busy, full, locked, away. A caller may try again. */
export class StoreUnavailable extends Error {
  override readonly name: string = "StoreUnavailable";
}

/** The files that are open are no longer where they were: whatever was written now would be lost. */
export class StoreMisplaced extends StoreUnavailable {
  override readonly name = "StoreMisplaced";
}

/** What is configured cannot serve as the store, and nothing in it was touched. The message says what to do. */
export class StoreUnusable extends Error {
  override readonly name = "StoreUnusable";
}
