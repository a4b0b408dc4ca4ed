// The writer's half of the visits: runs in the worker thread, one transaction a call.
import type { AgeBounds } from "../../visits/days/visit-store.ts";
import type { EngineParts } from "../shared/decisions.ts";
import { createAdding } from "./add-visits.ts";
import { createAgeing } from "./age-visits.ts";
import type { FileDatabase } from "./file/file-database.ts";

/**
 * The days from `first` to `last` on which any link has visits, as `span (day)`. Rows are ordered by day, so a query that looks
 * one link up on each of these days reads few rows, however far apart they are.
 */
export const daysWithVisits = (first: string, last: string) => `
  span (day) AS (
    SELECT min(day) FROM visits WHERE day BETWEEN ${first} AND ${last}
    UNION ALL SELECT (SELECT min(day) FROM visits WHERE visits.day > span.day AND visits.day <= ${last}) FROM span
      WHERE span.day IS NOT NULL)`;
/** Later than any day in a store. */
export const LAST_DAY = 2_932_896;

/** Day 0 holds the sums of old days. */
const ERASE = `
  WITH RECURSIVE ${daysWithVisits("0", String(LAST_DAY))}
  DELETE FROM visits WHERE day IN (SELECT day FROM span) AND code = $1 AND created_ms = $2`;

/** The salts of visitors' hashes, one for each day. */
const ADD_SALT = "INSERT INTO salts (day, salt) VALUES (?1, randomblob(32)) ON CONFLICT (day) DO NOTHING";
const FIND_SALT = "SELECT salt FROM salts WHERE day = ?1";
const FORGET_SALTS = "DELETE FROM salts WHERE day < ?1";

/** Visits that arrive later are dropped, because their link is erased. */
export const eraseVisits: EngineParts["eraseVisits"] = async (run, { code, createdMs }) => {
  await run(ERASE, [code, createdMs]);
};

export function createVisits(database: FileDatabase, onFault: (error: unknown) => void) {
  const add = createAdding(database, onFault);
  const days = createAgeing(database, onFault);
  const addSalt = database.statement<unknown, [number]>(ADD_SALT);
  const findSalt = database.statement<{ salt: Uint8Array }, [number]>(FIND_SALT);
  const forgetSalts = database.statement<unknown, [number]>(FORGET_SALTS);
  /** The log may still contain deleted salts and hashes. */
  let isLogToEmpty = false;

  function forgetSaltsBefore(day: number): void {
    const { changes } = forgetSalts.run(day);
    isLogToEmpty ||= changes > 0;
  }

  const ageAll = database.transaction(({ closeBefore, forgetBefore }: AgeBounds, limit: number): number => {
    const closed = days.closeDays(closeBefore, limit);
    isLogToEmpty ||= closed > 0;
    const forgotten = days.forgetDays(forgetBefore, limit);
    forgetSaltsBefore(closeBefore);
    return Math.max(closed, forgotten);
  });

  const salt = database.transaction((day: number, oldest: number): Uint8Array | undefined => {
    forgetSaltsBefore(oldest);
    addSalt.run(day);
    return findSalt.get(day)?.salt;
  });

  return {
    add,
    age(bounds: AgeBounds, limit: number): number {
      const aged = ageAll.immediate(bounds, limit);
      // Fails while somebody reads the log. Then the next call empties it.
      if (isLogToEmpty && aged < limit) isLogToEmpty = !database.emptyLog();
      return aged;
    },
    salt: (day: number, oldest: number) => salt.immediate(day, oldest),
  };
}
