// The content of a store as plain data, the same for every engine. An export holds these records.
import type { CodeCase } from "../../links/code.ts";
import type { EntryId, KeyedRequest, LinkId, LinkStore, CreatedRecord } from "../../links/link-store.ts";
import type { StoredLink } from "../../links/link.ts";
import type { Case, Note } from "../../moderation/case.ts";
import type { DecisionEntry, HostRule, KnownHosts, Replaced } from "../../moderation/moderation-store.ts";
import type { Sums } from "../../visits/days/day.ts";
import type { Detail } from "../../visits/days/detail.ts";
import type { VisitStore } from "../../visits/days/visit-store.ts";

/**
 * Times are in Unix milliseconds, days count from 1970-01-01 (UTC). Salts and today's reporters are missing: hashes of
 * visitors must not outlive their day, and an export may be kept for years. Sessions that were signed out are missing because
 * they are over within hours.
 */
export interface RecordOf {
  /** About oldest first. */
  readonly link: StoredLink;
  readonly day: LinkDay;
  /** Signs manage keys. */
  readonly secret: { readonly name: string; readonly secret: Uint8Array };
  readonly host: HostRule;
  /** Decisions, oldest first. They never change. In exports of an earlier Curt, they have no number. */
  readonly entry: Omit<DecisionEntry, "entry" | "replaced" | "undone" | "isUndoable"> & {
    readonly entry?: EntryId | undefined;
  };
  /** The former value of a link, a case or a host that a decision replaced. */
  readonly replaced: ReplacedRow;
  readonly case: Case & { readonly notes: readonly Note[] };
  readonly counter: { readonly day: number; readonly name: string; readonly count: number };
  /** A request that may be retried. */
  readonly request: KeyedRequest & { readonly made: readonly CreatedRecord[] };
}

/** A row of `replaced`, see the migration. */
export interface ReplacedRow {
  readonly entry: EntryId;
  readonly kind: Replaced["kind"];
  readonly subject: string;
  readonly created_ms: number;
  readonly value: string | null;
  readonly at_ms: number | null;
  readonly disabled_ms: number | null;
  readonly target_ms: number | null;
  readonly pending: number | null;
  readonly undone_by: EntryId | null;
  readonly became: string | null;
}

/** The visits of a link on one day, from all sources. Day 0 is the sum of days that are too old to list. */
export interface LinkDay extends LinkId, Sums {
  readonly day: number;
  /** Closed, so without hashes of visitors. Null for day 0. */
  readonly detail: Detail | null;
}

export type Kind = keyof RecordOf;

/** In the order of an export. */
export const KINDS = [
  "link",
  "day",
  "secret",
  "host",
  "entry",
  "replaced",
  "case",
  "counter",
  "request",
] as const satisfies readonly Kind[];

export type Counts = Readonly<Record<Kind, number>>;

export function noCounts(): Record<Kind, number> {
  return Object.fromEntries(KINDS.map((kind) => [kind, 0])) as Record<Kind, number>;
}

/** Reads all records of a kind, in batches. The order is the same in every engine, except for links. */
export type ReadRecords = <K extends Kind>(kind: K) => AsyncIterable<readonly RecordOf[K][]>;

/** Adds the records that aren't there yet. Returns how many it added. */
export type WriteRecords = <K extends Kind>(kind: K, records: readonly RecordOf[K][]) => Promise<number>;

/** Reads everything in a store. Methods reject with `StoreUnavailable`. */
export interface Records extends Pick<LinkStore, "find">, Pick<VisitStore, "newestSaltDay" | "identity"> {
  /** Whether the store can be filled, see {@link IS_EMPTY}. Throws {@link StoreUnusable} if it is empty but served. */
  isFillable(): Promise<boolean>;
  /** The rule for capitals in its codes, or `wanted` if it has no links yet. */
  codeCase(wanted?: CodeCase): Promise<CodeCase>;
  /** Compares DOMAINS with the hosts of former configurations. */
  hosts(domainHosts: readonly string[]): Promise<KnownHosts>;
  /** Estimates the number of records, which takes a while. */
  size(): Promise<number>;
  /** Calls `work` with a reader of one snapshot, also while the store is served. */
  snapshot<T>(work: (read: ReadRecords) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** The result of reading a whole store. */
export interface StoreReport {
  readonly links: number;
  readonly damage: readonly string[];
  /** The first codes of links whose target `isSendable` rejects. */
  readonly unsendable: readonly string[];
}

export const MAX_UNSENDABLE = 10;

/** A link to import with all its visits. Its days are closed: they hold no hashes of visitors. */
export interface ImportedLink extends StoredLink {
  readonly days: readonly Omit<LinkDay, keyof LinkId>[];
}

/** Imports links into a store, also while it is served. Methods reject with `StoreUnavailable`. */
export interface LinkImporter {
  /** The rule of the store for capitals in codes. */
  readonly codeCase: CodeCase;
  /**
   * Adds links with their visits in one transaction. Returns undefined for each added link, in the order of `links`. If a code
   * is in use, even by an ended link, changes nothing and returns that link.
   */
  add(links: readonly ImportedLink[]): Promise<readonly (StoredLink | undefined)[]>;
  close(): Promise<void>;
}

/** Ignores the secret and counters of a service that nobody has used. */
export const IS_EMPTY = `
  SELECT NOT EXISTS (SELECT 1 FROM links) AND NOT EXISTS (SELECT 1 FROM visits) AND NOT EXISTS (SELECT 1 FROM hosts)
    AND NOT EXISTS (SELECT 1 FROM journal) AND NOT EXISTS (SELECT 1 FROM cases) AS "isEmpty"`;
/** Removes the records of a service that nobody has used. Without `event_sender`, the store records no events. */
export const CLEAR = [
  "DELETE FROM event_sender",
  "DELETE FROM events",
  "DELETE FROM refused_events",
  "DELETE FROM secrets",
  "DELETE FROM counters",
  "DELETE FROM requests",
  "DELETE FROM remembered_settings",
];
export const SIZE = `
  SELECT (SELECT count(*) FROM links) + (SELECT count(*) FROM visits) + (SELECT count(*) FROM journal)
    + (SELECT count(*) FROM replaced) + (SELECT count(*) FROM counters) AS size`;
