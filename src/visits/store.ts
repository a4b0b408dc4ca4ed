import type { Code } from "../links/code.ts";
import type { Day, Sums } from "./day.ts";
import type { Slice } from "./visit-rows.ts";

/**
 * Where visits are kept: for each link (code and `createdMs`) and day (UTC), their sums and their detail. How days
 * merge and age is in `day.ts`; a store keeps the results. Every implementation passes `test/stores/visits.ts`. A method
 * that cannot answer rejects with `StoreUnavailable`.
 */
export interface VisitStore {
  /**
   * Merges the rows of a slice into what is stored, each exactly once: however often the slice is added, by whichever
   * process, and wherever an earlier attempt was cut off. A source's slices come in the order of their sequence, and
   * within one in the order of their rows. So an engine can remember, in the transaction that adds, how far each source
   * has got. Without transactions over many keys it can keep a row for each source, with the sequence that was last
   * merged into it, and pass over what is not newer. Resolves with how long this kept the store busy, in milliseconds,
   * without waiting for others.
   *
   * Visits may be counted before the operator erases their link and arrive after that. Nothing of them is stored, also
   * if both happen at the same moment. Only the totals of their day (`Figures`) count them.
   */
  add(slice: Slice): Promise<number>;
  /** All visits of a link since it was made. */
  sums(code: Code, createdMs: number): Promise<Sums>;
  /** The days from `firstDay` to `lastDay` that had visits, oldest first. A day counts from 1970-01-01. */
  days(code: Code, createdMs: number, firstDay: number, lastDay: number): Promise<DayVisits[]>;
  /** The same days without their details, which take much longer to read. */
  daySums(code: Code, createdMs: number, firstDay: number, lastDay: number): Promise<readonly DaySums[]>;
  /** 32 random bytes that all processes share for one day; asking for a day forgets those of days before `oldest`. */
  salt(day: number, oldest: number): Promise<Uint8Array>;
  /** The newest day that has a salt, which tells when somebody last counted; Infinity while none has. */
  newestSaltDay(): Promise<number>;
  /**
   * Lets at most `limit` days of links age: those before `closeBefore` are closed, and those before `forgetBefore` are
   * added to what was before. Says how many aged.
   */
  age(bounds: AgeBounds, limit: number): Promise<number>;
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
