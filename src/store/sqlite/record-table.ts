// How records are read from and written to SQLite.
import type { Database, SQLQueryBindings } from "bun:sqlite";

import { StoreUnavailable } from "../../links/store.ts";
import type { Kind, RecordOf } from "../records.ts";

/** Records in a batch that is read. */
const PART_RECORDS = 1000;

interface Table<Record> {
  read(): AsyncGenerator<readonly Record[]>;
  /** Returns how many were added. */
  write(records: readonly Record[]): number;
}

export type Tables<K extends Kind = Kind> = { readonly [Each in K]: Table<RecordOf[Each]> };

/** `toRecord` must take the statement's rows. */
export function reading<Record>(
  database: Database,
  statement: string,
  toRecord: (row: never) => Record,
): Table<Record>["read"] {
  return async function* read() {
    const rows = database.query<never, []>(statement).iterate();
    let part: Record[] = [];
    for (;;) {
      const next = trying(() => rows.next());
      if (next.done === true) break;
      part.push(toRecord(next.value));
      if (part.length < PART_RECORDS) continue;
      yield part;
      part = [];
    }
    if (part.length > 0) yield part;
  };
}

export function writing<Record>(
  database: Database,
  statement: string,
  columnsOf: (record: Record) => SQLQueryBindings[],
): Table<Record>["write"] {
  return (records) => {
    const write = database.query<unknown, SQLQueryBindings[]>(statement);
    return records.reduce((added, record) => added + write.run(...columnsOf(record)).changes, 0);
  };
}

export function trying<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    if (typeof code !== "string") throw error;
    throw new StoreUnavailable(message, { cause: error });
  }
}
