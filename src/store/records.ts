import type { Link } from "../links/link.ts";
import type { LinkId, LinkStore } from "../links/store.ts";
import type { Case, Note } from "../moderation/reports/case.ts";
// All that a store keeps, as plain data that means the same in every engine: what `curt copy` takes from one to another.
import type { HostRule, JournalEntry } from "../moderation/store.ts";
import type { Sums } from "../visits/day.ts";
import type { Detail } from "../visits/detail.ts";
import type { VisitStore } from "../visits/store.ts";

/** Times are in Unix milliseconds, days count from 1970-01-01 (UTC). */
export interface RecordOf {
  /** About oldest first. */
  readonly link: Link;
  readonly day: LinkDay;
  readonly salt: { readonly day: number; readonly salt: Uint8Array };
  /** What manage keys are made with. */
  readonly secret: { readonly name: string; readonly secret: Uint8Array };
  readonly host: HostRule;
  /** What was decided, in order. It never changes. */
  readonly entry: Omit<JournalEntry, "cursor">;
  readonly case: Case & { readonly notes: readonly Note[] };
  /** Who has reported a link on a day. */
  readonly reporter: LinkId & { readonly day: number; readonly reporter: string };
  readonly counter: { readonly day: number; readonly name: string; readonly count: number };
}

/** The visits of a link on one day, by all sources together. Day 0 is the sum of what is too old to be told by day. */
export interface LinkDay extends LinkId, Sums {
  readonly day: number;
  /** Null for day 0. */
  readonly detail: Detail | null;
  /** The detail may still hold hashes of visitors. */
  readonly isOpen: boolean;
}

export type Kind = keyof RecordOf;

/** In the order in which they are copied: reporters belong to cases. */
export const KINDS = [
  "link",
  "day",
  "salt",
  "secret",
  "host",
  "entry",
  "case",
  "reporter",
  "counter",
] as const satisfies readonly Kind[];

export interface Part<Record> {
  readonly records: readonly Record[];
  /** After the last of them. Only the engine that issued it understands it. */
  readonly cursor: string;
  readonly hasMore: boolean;
}

/** Reads all records of a kind, some at once. Salts and reporters are not in order. */
type ReadParts = <K extends Kind>(kind: K) => AsyncIterable<readonly RecordOf[K][]>;

export async function* readAll<Record>(
  read: (after: string) => Promise<Part<Record>>,
): AsyncGenerator<readonly Record[]> {
  for (let after: string | undefined = ""; after !== undefined;) {
    const { records, cursor, hasMore }: Part<Record> = await read(after);
    yield records;
    after = hasMore ? cursor : undefined;
  }
}

/** What two stores with the same records have in common. */
export type Counts = Readonly<Record<Kind | "disabled" | "ending" | "visits" | "bots", number>>;

/** Reads everything in a store, whatever engine it has. Methods reject with `StoreUnavailable` if they cannot. */
export interface Records extends Pick<LinkStore, "find">, Pick<VisitStore, "sums"> {
  /** At most `limit` records after a cursor, at first "". */
  read<K extends Kind>(kind: K, after: string, limit: number): Promise<Part<RecordOf[K]>>;
  /**
   * Calls `work` with a reader of everything as it is at one moment, also while the store is served. Links come about oldest
   * first, and entries as they were made. All other records come in an order that is the same in every engine; days by their number.
   */
  snapshot<T>(work: (parts: ReadParts) => Promise<T>): Promise<T>;
  count(): Promise<Counts>;
  /** About so many links, evenly spread from the oldest to the newest; all if there are fewer. */
  spread(count: number): Promise<readonly Link[]>;
  close(): Promise<void>;
}

/** A copy that fills a store, or has filled it. As long as it is not finished, the store refuses to serve. */
export interface Copying {
  /** Where the records come from. */
  readonly source: string;
  /** How far it is. To the engine this is an opaque text. */
  readonly progress: string;
}

/** A store that is being filled. */
export interface FilledRecords extends Records {
  /** Begins or continues a copy. Returns the one under way, or undefined if the store has records of its own. */
  begin(copying: Copying): Promise<Copying | undefined>;
  /**
   * Writes records, in one transaction with the progress that they make: records that are there already become like the
   * given ones. What a crash loses is lost together with its progress. Rejects with `StoreUnusable` if the progress is not
   * `before`, because somebody else fills or serves the store.
   */
  write<K extends Kind>(
    kind: K,
    records: readonly RecordOf[K][],
    progress: { readonly before: string; readonly after: string },
  ): Promise<void>;
  /** Resolves once everything is durable. From now on the store may serve. Once it does, it is no copy any more. */
  finish(): Promise<void>;
}
