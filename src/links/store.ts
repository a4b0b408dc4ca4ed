import type { Changes, Position } from "./changes.ts";
import type { Code } from "./code.ts";
import type { Link } from "./link.ts";
import type { Problem } from "./problem.ts";

/**
 * Stores links. Every implementation must pass `test/stores/links.ts`.
 *
 * Codes are opaque keys, compared byte by byte. A method that cannot answer rejects with {@link StoreUnavailable}; it
 * never reports a link as missing because it could not look.
 */
export interface LinkStore {
  /**
   * Adds links. The results are in the order of `links`: each is the added link, or says that its code is taken. A
   * taken code does not affect the other links. Resolves once all added links are durable (survive a power cut).
   *
   * If several processes insert the same code at once, exactly one of them succeeds. A code is free again if its link
   * ended at or before the new link's `freeIfEndedByMs`; the new link inherits nothing from the old one.
   */
  insert(links: readonly NewLink[]): Promise<readonly (Link | Extract<Problem, { kind: "taken" }>)[]>;
  /** Returns the link of a code, even if it has ended. Finds every link whose insert has resolved in any process. */
  find(code: Code): Promise<Link | undefined>;
  /**
   * Makes a link end at `endsMs`, durably, and records the change. Returns false, and changes nothing, if there is no
   * such link or if it ends by then anyway.
   */
  end(link: Pick<Link, "code" | "createdMs">, endsMs: number): Promise<boolean>;
  /**
   * Returns the changes to existing links since a position, from all processes, in commit order. Without a position it
   * returns only the current one. It is called often, so it must be cheap when nothing has changed.
   */
  changes(since?: Position): Promise<Changes>;
  /**
   * Whether a link made at or before `createdByMs` leads to this registrable domain or a host below it. Looks at a
   * bounded number of links; false if none of those does.
   */
  hasLinked(domain: string, createdByMs: number): Promise<boolean>;
  /** Deletes at most `limit` links that ended at or before `endedByMs`. Returns the number of deleted links. */
  purge(endedByMs: number, limit: number): Promise<number>;
  /** Returns about how many links there are. May miss links of the last second. Must be cheap. */
  size(): Promise<number>;
  /** Finishes the accepted inserts, then closes the files in a consistent state. */
  close(): Promise<void>;
}

export interface NewLink extends Link {
  readonly freeIfEndedByMs: number;
}

/** The store cannot answer now, for example because it is busy, full or locked. The caller may try again later. */
export class StoreUnavailable extends Error {
  override readonly name: string = "StoreUnavailable";
}

/** The files that are open are no longer where they were: whatever was written now would be lost. */
export class StoreMisplaced extends StoreUnavailable {
  override readonly name = "StoreMisplaced";
}

/** The configured database cannot be used. It has not been changed. The message says what to do. */
export class StoreUnusable extends Error {
  override readonly name = "StoreUnusable";
}
