import type { Changes, Position } from "./change-feed.ts";
import type { Change } from "./change.ts";
import type { Code } from "./code.ts";
import type { Link, Reason } from "./link.ts";
import type { Problem } from "./problem.ts";

/**
 * Stores links. Every implementation must pass `links.ts`, `updates.ts` and `requests.ts` of `test/stores/`.
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
   * The same for a request that may arrive again. A link that an earlier one with this key made is not made again: its
   * record is the outcome. Records of new links are kept in the transaction that adds them. If nothing is added, nothing is
   * kept. Requests with the same key wait for each other.
   */
  insertOnce(
    links: readonly NumberedLink[],
    request: KeyedRequest,
  ): Promise<readonly (CreatedRecord | Extract<Problem, { kind: "taken" }>)[] | KeyReused>;
  /** Returns what earlier requests with this key made, at most one record for each number. */
  recall(request: Pick<KeyedRequest, "key" | "body">): Promise<readonly CreatedRecord[] | KeyReused>;
  /** Deletes the records of at most `limit` requests that were first sent before an instant. Returns how many it deleted. */
  forgetRequests(sentBeforeMs: number, limit: number): Promise<number>;
  /**
   * Changes a link as {@link applyChange} says, durably and in one transaction. Records the change for caches, unless it is
   * silent. Concurrent changes to a link are applied one after the other.
   */
  update(link: LinkId, change: Change): Promise<Updated>;
  /** Returns the secret of the store. If it has none yet, that is the proposed one. */
  secret(proposed: Uint8Array): Promise<Uint8Array>;
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

/** The link as it is now, undefined if there is no such link; and whether the change changed it. */
export interface Updated {
  readonly link: Link | undefined;
  readonly isChanged: boolean;
}

/** A request to make links, which its sender may repeat to learn what came of it. */
export interface KeyedRequest {
  /** Keyed hashes, so that the store tells nobody the key of another request. */
  readonly key: string;
  readonly body: string;
  readonly sentMs: number;
}

/** `nth` is the number of the link in its request. */
export interface NumberedLink extends NewLink {
  readonly nth: number;
}

/** A link that was made. The request itself says the rest. */
export interface CreatedRecord extends LinkId {
  readonly nth: number;
  readonly endsMs: number;
}

/** The key was used for a request with another body. */
export interface KeyReused {
  readonly kind: "key-reused";
}

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
export type Who = "api" | "page" | "reports";

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

/** The configuration lacks something that the store needs, or names a file that can't be read. Retries don't help. */
export class StoreMisconfigured extends StoreUnavailable {}

/** The configured database cannot be used. It has not been changed. The message says what to do. */
export class StoreUnusable extends Error {
  override readonly name = "StoreUnusable";
}
