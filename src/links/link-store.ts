import type { Change, OtherRevision } from "./change.ts";
import type { Code, LinkKey } from "./code.ts";
import type { Link } from "./link.ts";
import type { Reason } from "./problem.ts";

/**
 * Stores links. Every implementation must pass `links.ts`, `updates.ts` and `requests.ts` of `test/stores/`.
 *
 * Keys are opaque, compared byte by byte. `server/domain-store.ts` looks up codes, for one domain. A method that cannot
 * answer rejects with {@link StoreUnavailable}; it never reports a link as missing because it could not look.
 */
export interface LinkStore<Id extends Code | LinkKey = LinkKey> {
  /**
   * Adds links. The results are in the order of `links`: false if its code is taken, which does not affect the other links.
   * Resolves once all added links are durable (survive a power cut).
   *
   * If several processes insert the same code at once, exactly one of them succeeds. A code is free again if its link
   * ended at or before the new link's `freeIfEndedByMs`; the new link inherits nothing from the old one. The code of a
   * disabled link is never free.
   */
  insert(links: readonly NewLink[]): Promise<readonly boolean[]>;
  /** Returns the link of a code, even if it has ended. Finds every link whose insert has resolved in any process. */
  find(code: Id): Promise<Link<Id> | undefined>;
  /** Returns links of a person in one domain, newest first. Ended ones as well, until they are purged. */
  owned(query: OwnedQuery<Id>): Promise<readonly Link<Id>[]>;
  /** Returns the links of these codes that exist, in any order. */
  findAll(codes: readonly Id[]): Promise<readonly Link<Id>[]>;
  /**
   * The same as `find` without a promise, which would add a sixth to the cost of a cold redirect. Only for stores that read on the
   * calling thread. Throws {@link StoreUnavailable}.
   */
  readonly findNow?: ((code: Id) => Link<Id> | undefined) | undefined;
  /**
   * The same as `find` from a standby that is nearer or less busy. Undefined if it doesn't have the link or doesn't answer: then
   * call `find`. It has all changes that this process has read, and everything older than a second.
   */
  readonly findNear?: ((code: Id) => Promise<Link<Id> | undefined>) | undefined;
  /**
   * The same as `insert`, for a request that may be repeated. Returns true for each added link, or the record of an earlier
   * request with this key. Records are stored in the transaction that adds their links. Requests with the same key wait
   * for each other.
   */
  insertOnce(
    links: readonly NumberedLink[],
    request: KeyedRequest,
  ): Promise<readonly (CreatedRecord | boolean)[] | KeyReused>;
  /** Returns the records of earlier requests with this key, at most one for each number. */
  recall(request: RepeatableRequest): Promise<readonly CreatedRecord[] | KeyReused>;
  /** Deletes the records of at most `limit` requests that were first sent before an instant. Returns how many it deleted. */
  forgetRequests(sentBeforeMs: number, limit: number): Promise<number>;
  /**
   * Changes a link as {@link applyChange} says, durably and in one transaction. Records the change for caches, unless it is
   * silent. Concurrent changes to a link are applied one after the other.
   */
  update(link: LinkId<Id>, change: Change): Promise<Updated<Id>>;
  /** The same for the operator and for people, with an entry in the operator's journal if the change has an effect. */
  change(
    link: LinkId<Id>,
    change: Change,
    decision: Decision,
  ): Promise<Updated<Id> & { readonly entry: EntryId | undefined }>;
  /** Returns the secret of the store. If it has none yet, stores the proposed one. */
  secret(proposed: Uint8Array): Promise<Uint8Array>;
  /** Whether this is still the secret of the store: an import or a restore may have replaced it. */
  isSecret(secret: Uint8Array): Promise<boolean>;
  /**
   * Disables links and answers their open cases, durably and in one transaction. The transaction adds one entry to the operator's
   * journal, with what it replaced: also for links that are disabled for this reason already, but not for unknown and deleted
   * ones. Another reason replaces the earlier one. Changes nothing if the operator saw another revision of any.
   */
  disable(
    links: readonly SeenLink[],
    decision: Decision & { readonly reason: Reason },
  ): Promise<Decided | OtherRevision>;
  /** Enables disabled links in the same way. A deleted link stays deleted. */
  enable(links: readonly SeenLink[], decision: Decision): Promise<Decided | OtherRevision>;
  /**
   * Gives links to a person in the same way. Earlier keys no longer open the links that change. A deleted link has no owner.
   */
  handOver(links: readonly SeenLink[], owner: string, decision: Decision): Promise<Decided | OtherRevision>;
  /**
   * Deletes a link's URL and visits permanently, also visits that arrive later. The row stays, so that its code stays
   * taken. Adds no entry if there is no such link or it was deleted before. Changes nothing if the operator saw another
   * revision.
   */
  erase(link: SeenLink, decision: Decision): Promise<Decided | OtherRevision>;
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
  /**
   * Returns about how many links there are. May miss links of the last second. Must be cheap. Only asynchronous if the store
   * is, because each generated code needs it.
   */
  size(): number | Promise<number>;
  /** Finishes the accepted inserts, then closes the files in a consistent state. */
  close(): Promise<void>;
}

export interface OwnedQuery<Id extends Code | LinkKey = LinkKey> {
  readonly owner: string;
  /** See `Domain`. */
  readonly keyPrefix: string;
  /** Only links that come after this one in the list, which may be gone. */
  readonly after?: LinkId<Id> | undefined;
  readonly limit: number;
}

/** Types of stores have keys unless they say that they have codes. */
export type LinkId<Id extends Code | LinkKey = LinkKey> = Pick<Link<Id>, "code" | "createdMs">;

/** A link that the operator decides about. */
export interface SeenLink extends LinkId {
  /** The version that the operator saw, see {@link versionOf}. Undefined: any. */
  readonly revision?: string | undefined;
}

/** The result of a change. `link` is as it is now, undefined if there is no such link. */
export interface Updated<Id extends Code | LinkKey = LinkKey> {
  readonly link: Link<Id> | undefined;
  readonly isChanged: boolean;
}

/** A request to create links, which its sender may repeat. */
export interface RepeatableRequest {
  /** A keyed hash, so that the store doesn't reveal the keys of requests. */
  readonly key: string;
  /** A keyed hash as well. */
  readonly body: string;
}

export interface KeyedRequest extends RepeatableRequest {
  readonly sentMs: number;
}

/** `nth` is the number of the link in its request. */
export interface NumberedLink extends NewLink {
  readonly nth: number;
}

/** The stored record of a created link. The repeated request has everything else. */
export interface CreatedRecord extends LinkId {
  readonly nth: number;
  readonly endsMs: number;
}

/** The key was used for a request with another body. */
export interface KeyReused {
  readonly kind: "key-reused";
}

/** Who decided something about links or hosts, when, and why. The store writes it into the operator's journal. */
export interface Decision extends Actor {
  readonly atMs: number;
  /** For the operator only. */
  readonly note?: string | undefined;
}

/** The number of an entry in the operator's journal. Of two decisions about a link or a host, the later one has the higher. */
export type EntryId = number;

/** The result of a decision. */
export interface Decided {
  /** How many links or hosts changed. The entry also has those that were in this state before. */
  readonly changed: number;
  /** Undefined if there was nothing to decide about. */
  readonly entry: EntryId | undefined;
}

/** The operator, through the API or the page, the reports of visitors, or somebody who may change a link. */
export const WHO = ["api", "page", "reports", "person"] as const;
export type Who = (typeof WHO)[number];

export interface Actor {
  readonly who: Who;
  /** The name of the operator or the person. Undefined for a token without a name, and for a manage key. */
  readonly by?: string | undefined;
}

export interface NewLink extends Link<LinkKey> {
  readonly freeIfEndedByMs: number;
}

/** The store cannot answer now, for example because it is busy, full or locked. The caller may try again later. */
export class StoreUnavailable extends Error {
  override readonly name: string = "StoreUnavailable";
}

/** The open files were moved or deleted, so writes would be lost. */
export class StoreMisplaced extends StoreUnavailable {
  override readonly name = "StoreMisplaced";
}

/**
 * The disk did not store a write. The kernel may have dropped it, so a retry that succeeds proves nothing. The process must
 * write nothing more, and end without closing the store.
 */
export class SyncFailed extends StoreUnavailable {
  override readonly name = "SyncFailed";
}

/** The exit code after {@link SyncFailed}: EX_IOERR of sysexits.h. */
export const SYNC_FAILED = 74;

/** The configuration lacks something that the store needs, or names a file that can't be read. Retries don't help. */
export class StoreMisconfigured extends StoreUnavailable {}

/** The configured database cannot be used, and was not changed. The message says what to do. */
export class StoreUnusable extends Error {
  override readonly name = "StoreUnusable";
}

/**
 * How far a reader has read the changes. Only the store that issued a position understands it. A plain number would
 * only work with a single writer: with several, numbers assigned before a commit can be out of commit order.
 */
export type Position = string & { readonly __brand: "Position" };

export interface Changes {
  /** Pass this to the next read. */
  readonly position: Position;
  /** Keys whose link changed. A key may be repeated, even in a later read; forgetting it twice does no harm. */
  readonly keys: readonly LinkKey[];
  /** True if the rules about hosts changed, so that any link may answer differently. */
  readonly rules: boolean;
  /** True if more changes can be read right away. */
  readonly hasMore: boolean;
  /** False if the store no longer has all changes since the reader's position. Then any link may have changed. */
  readonly isComplete: boolean;
}
