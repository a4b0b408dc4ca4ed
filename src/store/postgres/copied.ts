// Whether the database is a copy that `curt copy` makes.
import { StoreUnusable } from "../../links/store.ts";
import type { Copying } from "../records.ts";
import type { Run } from "./connection/database.ts";

const FIND = "SELECT source, progress FROM copied";
const FIND_STATE = `SELECT source, is_finished AS "isFinished" FROM copied`;
const LEAVE = "DELETE FROM copied WHERE is_finished";
/** The lock keeps a second copy from beginning at the same moment. */
const BEGIN = [
  "LOCK TABLE copied",
  `INSERT INTO copied (source, progress, is_finished)
  SELECT $1, $2, FALSE WHERE NOT EXISTS (SELECT FROM copied) AND NOT EXISTS (SELECT FROM links)
    AND NOT EXISTS (SELECT FROM visits) AND NOT EXISTS (SELECT FROM hosts)
    AND NOT EXISTS (SELECT FROM journal) AND NOT EXISTS (SELECT FROM cases)`,
] as const;
const KEEP = "UPDATE copied SET progress = $2, is_finished = FALSE WHERE progress = $1";
const FINISH = "UPDATE copied SET is_finished = TRUE";

/** Refuses a database that lacks a part of what is copied to it. Says whether it is a finished copy. */
export async function requireWhole(run: Run): Promise<boolean> {
  const [copying] = (await run<{ source: string; isFinished: boolean }>(FIND_STATE)).rows;
  if (copying?.isFinished === false)
    throw new StoreUnusable(
      `The database is an unfinished copy of ${copying.source}. Run the same command again, curt copy or curt import: it goes on where it was.`,
    );
  return copying !== undefined;
}

/** From now on the database changes by itself, so it is no copy any more. */
export async function leaveCopy(run: Run): Promise<void> {
  if (await requireWhole(run)) await run(LEAVE);
}

/** To be called in a transaction. */
export async function beginCopy(run: Run, { source, progress }: Copying): Promise<Copying | undefined> {
  const [lock, insert] = BEGIN;
  await run(lock);
  await run(insert, [source, progress]);
  return (await run<Copying & Record<string, unknown>>(FIND)).rows[0];
}

/** To be called in the transaction that writes what was copied. */
export async function keepProgress(run: Run, before: string, after: string): Promise<boolean> {
  return (await run(KEEP, [before, after])).count === 1;
}

export async function finishCopy(run: Run): Promise<void> {
  await run(FINISH);
}
