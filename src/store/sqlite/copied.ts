// Whether the file is a copy that `curt copy` makes.
import type { Database } from "bun:sqlite";

import { StoreUnusable } from "../../links/store.ts";
import type { Copying } from "../records.ts";

const FIND = "SELECT source, progress FROM copied";
const FIND_UNFINISHED = "SELECT source FROM copied WHERE is_finished = 0";
const HAS_FINISHED = "SELECT 1 FROM copied WHERE is_finished = 1";
const LEAVE = "DELETE FROM copied WHERE is_finished = 1";
const BEGIN = `
  INSERT INTO copied (source, progress, is_finished)
  SELECT ?1, ?2, 0 WHERE NOT EXISTS (SELECT 1 FROM copied) AND NOT EXISTS (
    SELECT 1 FROM links UNION ALL SELECT 1 FROM visits UNION ALL SELECT 1 FROM hosts UNION ALL
    SELECT 1 FROM journal UNION ALL SELECT 1 FROM cases)`;
const KEEP = "UPDATE copied SET progress = ?2, is_finished = 0 WHERE progress = ?1";
const FINISH = "UPDATE copied SET is_finished = 1";

/** Refuses a file that lacks a part of what is copied to it. */
export function requireWhole(database: Database, path: string): void {
  const copying = database.query<{ source: string }, []>(FIND_UNFINISHED).get();
  if (copying !== null)
    throw new StoreUnusable(
      `${path} is an unfinished copy of ${copying.source}. Run the same command again, curt copy or curt import: it goes on where it was.`,
    );
}

/** From now on the file changes by itself, so it is no copy any more. */
export function leaveCopy(database: Database, path: string): void {
  requireWhole(database, path);
  // So that other starts need no lock for it.
  if (database.query(HAS_FINISHED).get() !== null) database.run(LEAVE);
}

export function beginCopy(database: Database, { source, progress }: Copying): Copying | undefined {
  database.query<unknown, [string, string]>(BEGIN).run(source, progress);
  return database.query<Copying, []>(FIND).get() ?? undefined;
}

/** To be called in the transaction that writes what was copied. */
export function keepProgress(database: Database, before: string, after: string): boolean {
  return database.query<unknown, [string, string]>(KEEP).run(before, after).changes === 1;
}

export function finishCopy(database: Database): void {
  database.run(FINISH);
}
