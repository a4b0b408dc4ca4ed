import type { Changes, Position } from "./changes.ts";
import type { Code } from "./code.ts";
import type { Link, Reason } from "./link.ts";
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
   * ended at or before the new link's `freeIfEndedByMs`; the new link inherits nothing from the old one. The code of a
   * disabled link is never free.
   */
  insert(links: readonly NewLink[]): Promise<readonly (Link | Extract<Problem, { kind: "taken" }>)[]>;
  /** Returns the link of a code, even if it has ended. Finds every link whose insert has resolved in any process. */
  find(code: Code): Promise<Link | undefined>;
  /**
   * The same without a promise, which would add a sixth to the cost of a cold redirect. Only for stores that look on the
   * calling thread anyway. Throws {@link StoreUnavailable}.
   */
  readonly findNow?: ((code: Code) => Link | undefined) | undefined;
  /**
   * The same from a server that is nearer or less busy. Undefined if that one does not have the link, or cannot tell: then
   * `find` must be asked. It knows all that `changes` has told this process, and all that is older than a second.
   */
  readonly findNear?: ((code: Code) => Promise<Link | undefined>) | undefined;
  /**
   * Makes a link end at `endsMs`, durably, and records the change. Returns false, and changes nothing, if there is no
   * such link or if it ends by then anyway.
   */
  end(link: LinkId, endsMs: number): Promise<boolean>;
  /**
   * Disables links, durably and in one transaction, each with an entry in the journal and in the changes. Returns the
   * links that it changed: not those that are unknown, deleted, or disabled for this reason already. Disabling for
   * another reason replaces the reason. Give it at most {@link MAX_DECIDED} links.
   */
  disable(
    links: readonly LinkId[],
    decision: Decision & { readonly reason: Reason },
  ): Promise<readonly LinkId[]>;
  /** Enables disabled links again, likewise. A deleted link stays deleted. */
  enable(links: readonly LinkId[], decision: Decision): Promise<readonly LinkId[]>;
  /**
   * Deletes what is known of a link for good: its URL and its visits, also those that arrive later. The row stays, so
   * that its code stays taken.
   * Returns false if there is no such link or it was deleted before.
   */
  erase(link: LinkId, decision: Decision): Promise<boolean>;
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
  /**
   * Deletes at most `limit` links that ended at or before `endedByMs` and are not disabled. Returns the number of
   * deleted links.
   */
  purge(endedByMs: number, limit: number): Promise<number>;
  /** Returns about how many links there are. May miss links of the last second. Must be cheap. */
  size(): Promise<number>;
  /** Finishes the accepted inserts, then closes the files in a consistent state. */
  close(): Promise<void>;
}

export type LinkId = Pick<Link, "code" | "createdMs">;

/** So that a transaction stays short. */
export const MAX_DECIDED = 500;

/** Who decided something about links or hosts, when, and why. The store writes it into the journal. */
export interface Decision {
  readonly who: Who;
  readonly atMs: number;
  /** For the operator only. */
  readonly note?: string | undefined;
}

/** The operator, by the door that was used, or the reports of visitors. */
export type Who = "api" | "page" | "shell" | "reports";

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
