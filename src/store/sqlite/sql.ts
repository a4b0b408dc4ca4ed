// The port of `store/shared/sql.ts` on a SQLite connection.
import type { Database, SQLQueryBindings } from "bun:sqlite";

import type { Run, Statements } from "../shared/sql.ts";

const ROW_LOCK = / FOR UPDATE(?: SKIP LOCKED)?/g;

/** Statements are prepared each time, which takes some µs. */
export function runOn(database: Database): Run {
  return async (text, values = []) => {
    const sql = text.replaceAll(ROW_LOCK, "").replaceAll(/\$(\d+)/g, "?$1");
    using statement = database.prepare<never, SQLQueryBindings[]>(sql);
    return { rows: statement.all(...values.map((value) => value ?? null)) };
  };
}

/** Only for a connection on which nothing else happens before a transaction is over. */
export function statementsOn(database: Database): Statements {
  const run = runOn(database);
  return {
    run,
    async transaction(work) {
      database.run("BEGIN IMMEDIATE");
      try {
        const result = await work(run);
        database.run("COMMIT");
        return result;
      } catch (error) {
        // Some faults, such as a full disk, have rolled it back already.
        if (database.inTransaction) database.run("ROLLBACK");
        throw error;
      }
    },
  };
}
