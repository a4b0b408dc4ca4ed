// The port of `store/shared/sql.ts` on a SQLite connection.
import type { Database, SQLQueryBindings } from "bun:sqlite";

import { StoreUnavailable, SyncFailed } from "../../links/link-store.ts";
import type { Scan } from "../shared/record-tables.ts";
import type { Run, Statements } from "../shared/sql.ts";
import { isFailedSync } from "./file/failed-sync.ts";

const ROW_LOCK = / FOR UPDATE(?: SKIP LOCKED)?/g;

/** Prepares each statement again, which takes a few µs. `onError` may throw another error instead. */
export function runOn(database: Database, onError: (error: unknown) => void = () => {}): Run {
  return async (text, values = []) => {
    const sql = text.replaceAll(ROW_LOCK, "").replaceAll(/\$(\d+)/g, "?$1");
    try {
      using statement = database.prepare<never, SQLQueryBindings[]>(sql);
      return { rows: statement.all(...values.map((value) => value ?? null)) };
    } catch (error) {
      onError(error);
      throw error;
    }
  };
}

/** Records in a batch. */
const BATCH_ROWS = 1000;

export function scanOn(database: Database): Scan {
  return async function* scan(statement) {
    const rows = database.query<never, []>(statement).iterate();
    let batch: never[] = [];
    for (;;) {
      const next = trying(() => rows.next());
      if (next.done === true) break;
      batch.push(next.value);
      if (batch.length < BATCH_ROWS) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  };
}

/** Only for a connection on which nothing else runs during a transaction. */
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

export function trying<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    return fail(error);
  }
}

/** Errors of SQLite may be temporary, so they become `StoreUnavailable`. A failed sync isn't. */
export function fail(error: unknown): never {
  const { code, message } = error as { code?: unknown; message: string };
  if (typeof code !== "string") throw error;
  throw new (isFailedSync(error) ? SyncFailed : StoreUnavailable)(message, { cause: error });
}
