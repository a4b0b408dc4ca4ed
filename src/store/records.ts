// All that a store keeps, as plain data that means the same in every engine: what an export holds.
import type { Link } from "../links/link.ts";
import type { KeyedRequest, LinkId, LinkStore, CreatedRecord } from "../links/store.ts";
import type { Note } from "../moderation/reports/case.ts";
import type { Case } from "../moderation/reports/case.ts";
// All that a store keeps, as plain data that means the same in every engine: what `curt copy` takes from one to another.
import type { HostRule, JournalEntry } from "../moderation/store.ts";
import type { Sums } from "../visits/day.ts";
import type { Detail } from "../visits/detail.ts";

/**
 * Times are in Unix milliseconds, days count from 1970-01-01 (UTC). Salts and today's reporters are missing: hashes of
 * visitors must not outlive their day, and an export may be kept for years.
 */
export interface RecordOf {
  /** About oldest first. */
  readonly link: Link;
  readonly day: LinkDay;
  /** What manage keys are made with. */
  readonly secret: { readonly name: string; readonly secret: Uint8Array };
  readonly host: HostRule;
  /** What was decided, in order. It never changes. */
  readonly entry: Omit<JournalEntry, "cursor">;
  readonly case: Case & { readonly notes: readonly Note[] };
  readonly counter: { readonly day: number; readonly name: string; readonly count: number };
  /** A request that may be retried. */
  readonly request: KeyedRequest & { readonly made: readonly CreatedRecord[] };
}

/** The visits of a link on one day, by all sources together. Day 0 is the sum of what is too old to be told by day. */
export interface LinkDay extends LinkId, Sums {
  readonly day: number;
  /** Closed, so without hashes of visitors. Null for day 0. */
  readonly detail: Detail | null;
}

export type Kind = keyof RecordOf;

/** In the order in which they are exported. */
export const KINDS = [
  "link",
  "day",
  "secret",
  "host",
  "entry",
  "case",
  "counter",
  "request",
] as const satisfies readonly Kind[];

export type Counts = Readonly<Record<Kind, number>>;

export function noCounts(): Record<Kind, number> {
  return Object.fromEntries(KINDS.map((kind) => [kind, 0])) as Record<Kind, number>;
}

/** Reads all records of a kind, in batches. The order is the same in every engine, except for links. */
type ReadRecords = <K extends Kind>(kind: K) => AsyncIterable<readonly RecordOf[K][]>;

/** Adds the records that aren't there yet. Returns how many it added. */
export type WriteRecords = <K extends Kind>(kind: K, records: readonly RecordOf[K][]) => Promise<number>;

/** Reads everything in a store, whatever engine it has. Methods reject with `StoreUnavailable` if they cannot. */
export interface Records extends Pick<LinkStore, "find"> {
  /** Whether the store can be filled, as {@link IS_EMPTY} finds. */
  isEmpty(): Promise<boolean>;
  /** About how many records there are, which takes a while. */
  size(): Promise<number>;
  /** Calls `work` with a reader of everything as it is at one moment, also while the store is served. */
  snapshot<T>(work: (read: ReadRecords) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** A service that nobody used yet has a secret and counters, and can be filled. */
export const IS_EMPTY = `
  SELECT NOT EXISTS (SELECT 1 FROM links) AND NOT EXISTS (SELECT 1 FROM visits) AND NOT EXISTS (SELECT 1 FROM hosts)
    AND NOT EXISTS (SELECT 1 FROM journal) AND NOT EXISTS (SELECT 1 FROM cases) AS "isEmpty"`;
/** Removes what a service that nobody used yet has written. */
export const CLEAR = ["DELETE FROM secrets", "DELETE FROM counters", "DELETE FROM requests"];
export const SIZE = `
  SELECT (SELECT count(*) FROM links) + (SELECT count(*) FROM visits) + (SELECT count(*) FROM journal)
    + (SELECT count(*) FROM counters) AS size`;
