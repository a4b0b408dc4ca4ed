// How records are read from and written to SQLite. What writes is to be called in a transaction.
import type { Database, SQLQueryBindings } from "bun:sqlite";

import type { Kind, Part, RecordOf } from "../records.ts";

interface Table<Record> {
  read(after: string, limit: number): Part<Record>;
  write(records: readonly Record[]): void;
}

export type Tables<K extends Kind = Kind> = { readonly [Each in K]: Table<RecordOf[Each]> };

type Key = readonly (string | number)[];

interface Keyed<Row, Record> {
  /** Comes before all others. */
  readonly start: Key;
  keyOf(row: Row): Key;
  toRecord(row: Row): Record;
}

/** Rows in the order of their keys, after the one with this key. */
export function reading<Row, Record>(
  database: Database,
  statement: string,
  { start, keyOf, toRecord }: Keyed<Row, Record>,
) {
  return (after: string, limit: number): Part<Record> => {
    const key = after === "" ? start : (JSON.parse(after) as Key);
    const rows = database.query<Row, SQLQueryBindings[]>(statement).all(...key, limit);
    const last = rows.at(-1);
    return {
      records: rows.map(toRecord),
      cursor: last === undefined ? after : JSON.stringify(keyOf(last)),
      hasMore: rows.length === limit,
    };
  };
}

export function writing<Record>(
  database: Database,
  statement: string,
  columnsOf: (record: Record) => SQLQueryBindings[],
) {
  return (records: readonly Record[]): void => {
    const write = database.query<unknown, SQLQueryBindings[]>(statement);
    for (const record of records) write.run(...columnsOf(record));
  };
}
