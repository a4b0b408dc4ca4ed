import type { Code } from "../links/code.ts";
import type { DayDetail } from "./day.ts";

/**
 * Where visits are kept: for each link (code and `createdMs`) and day (UTC), their sums and their detail. Every
 * implementation passes `test/stores/visits.ts`. A method that cannot answer rejects with `StoreUnavailable`.
 */
export interface VisitStore {
  /**
   * Adds what a segment counted. However often it is called, by whichever process, and wherever it was cut off:
   * each segment counts once. Segments of one journal come in the order of their sequence. Nobody writes to the
   * file meanwhile. Rejects with {@link SegmentDamaged} where it never will. Resolves with how long this kept the
   * store busy, in milliseconds, without waiting for others.
   */
  fold(path: string): Promise<number>;
  /** All visits of a link since it was made. */
  sums(code: Code, createdMs: number): Promise<Sums>;
  /** The days from `firstDay` to `lastDay` that had visits, oldest first. A day counts from 1970-01-01. */
  days(code: Code, createdMs: number, firstDay: number, lastDay: number): Promise<DayVisits[]>;
  /** 32 random bytes that all processes share for one day; asking for a day forgets those of days before `oldest`. */
  salt(day: number, oldest: number): Promise<Uint8Array>;
  /** The newest day that has a salt, which tells when somebody last counted; Infinity while none has. */
  newestSaltDay(): Promise<number>;
  /**
   * Lets at most `limit` days of links age: those before `closeBefore` forget their visitors' hashes, those before
   * `coarseBefore` their hours, and those before `forgetBefore` are added to what was before. Says how many aged.
   */
  age(bounds: AgeBounds, limit: number): Promise<number>;
}

export interface Sums {
  readonly visits: number;
  readonly bots: number;
}

export interface DayVisits extends Sums {
  readonly day: number;
  readonly detail: DayDetail;
}

export interface AgeBounds {
  readonly closeBefore: number;
  readonly coarseBefore: number;
  readonly forgetBefore: number;
}

/** What is in the segment cannot be counted, now or ever. */
export class SegmentDamaged extends Error {
  override readonly name = "SegmentDamaged";
}
