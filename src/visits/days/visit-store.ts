import type { Code, LinkKey } from "../../links/code.ts";
import type { Day, Sums } from "./day.ts";
import type { Slice } from "./slice.ts";

/**
 * Stores the sums and the detail of each link (key and `createdMs`) and day (UTC). `day.ts` merges and closes days.
 * Every implementation passes `test/stores/visits.ts`. A method that cannot answer rejects with `StoreUnavailable`.
 */
export interface VisitStore<Id extends Code | LinkKey = LinkKey> {
  /**
   * Merges the rows of a slice into the stored days, each exactly once. It doesn't matter how often a slice is added, by
   * which process, and where an earlier attempt stopped. The slices of a source come in the order of their sequence and
   * rows, so an engine can remember how far each source has got, in the transaction that adds. Resolves with the
   * milliseconds that this kept the store busy, without waiting for others.
   *
   * Visits may arrive after the operator has erased their link. They are not stored; only the totals of their day
   * (`Figures`) count them.
   */
  add(slice: Slice): Promise<number>;
  /** All visits of a link since its creation. */
  sums(code: Id, createdMs: number): Promise<Sums>;
  /** The days from `firstDay` to `lastDay` that had visits, oldest first. A day counts from 1970-01-01. */
  days(code: Id, createdMs: number, firstDay: number, lastDay: number): Promise<DayVisits[]>;
  /** The same days without their details, which take much longer to read. */
  daySums(code: Id, createdMs: number, firstDay: number, lastDay: number): Promise<readonly DaySums[]>;
  /** At most `limit` links that were visited on a day, in any order. A link may come several times, and its visits add up. */
  visited(day: number, limit: number): Promise<readonly VisitedLink<Id>[]>;
  /** 32 random bytes that all processes share for one day. Deletes those of days before `oldest`. */
  salt(day: number, oldest: number): Promise<Uint8Array>;
  /** The newest day with a salt, which is when somebody last counted; Infinity while there is none. */
  newestSaltDay(): Promise<number>;
  /**
   * Lets at most `limit` days of links age. Closes those before `closeBefore`, and adds those before `forgetBefore` to the
   * sum of all earlier days. Returns how many aged.
   */
  age(bounds: AgeBounds, limit: number): Promise<number>;
  /** Identifies this store, so that no journal of another one is added to it. */
  identity(): Promise<OwnIdentity>;
  /** Remembers for how many days visits are kept, and since when. */
  rememberKeep(days: number, nowMs: number): Promise<KnownKeep>;
}

export interface VisitedLink<Id extends Code | LinkKey = LinkKey> {
  readonly code: Id;
  readonly createdMs: number;
  readonly visits: number;
}

export interface StoreIdentity {
  /** Its backups have the same id. Imports of its exports don't. */
  readonly id: string;
  /** The path of its file, or the address of its database. */
  readonly place: string;
  /** Differs between a database and its copy on any server, whatever their addresses. A file has none. */
  readonly cluster?: string | undefined;
}

export interface OwnIdentity extends StoreIdentity {
  /** Whether a store is still at its place, and not this one. It may be the original of this copy, with the same id. */
  isElsewhere(other: StoreIdentity): boolean;
}

export interface KnownKeep {
  readonly sinceMs: number;
  /** How many days were kept before. The same number if that is unknown. */
  readonly formerDays: number;
}

export interface DayVisits extends Day {
  readonly day: number;
}

export interface DaySums extends Sums {
  readonly day: number;
}

export interface AgeBounds {
  readonly closeBefore: number;
  readonly forgetBefore: number;
}
