// Rows of visits that earlier versions wrote. Rewriting all of them at a start could take minutes, so they move to their
// new table while days age. Until then, readers read both tables.
import type { Database } from "bun:sqlite";

import type { Row } from "../../visits/slice.ts";

/** Newest first: they hold hashes of visitors. Day 0, which has no detail, comes last. */
const NEWEST = `
  SELECT rowid, day, code, created_ms AS createdMs, visits, bots, CAST(detail AS BLOB) AS detail
  FROM old_visits ORDER BY day DESC LIMIT ?1`;
const REMOVE = "DELETE FROM old_visits WHERE rowid = ?1";

/** The detail of day 0 is null. */
type OldRow = Omit<Row, "detail"> & { readonly detail: Row["detail"] | null };

/** To be called in a transaction. */
export function prepareOldVisits(database: Database) {
  const newest = database.prepare<OldRow & { rowid: number }, [number]>(NEWEST);
  const remove = database.prepare<unknown, [number]>(REMOVE);
  return {
    /** Removes some rows and returns them. */
    take(limit: number): OldRow[] {
      const rows = newest.all(limit);
      for (const { rowid } of rows) remove.run(rowid);
      return rows;
    },
    close() {
      newest.finalize();
      remove.finalize();
    },
  };
}
