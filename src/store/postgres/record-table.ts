// How records are read from and written to PostgreSQL. What writes is to be called in a transaction.
import type { QueryResultRow } from "pg";

import type { Kind, Part, RecordOf } from "../records.ts";
import type { Run, Value } from "./connection/database.ts";

interface Table<Record> {
  read(run: Run, after: string, limit: number): Promise<Part<Record>>;
  write(run: Run, records: readonly Record[]): Promise<void>;
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
export function reading<Row extends object, Record>(
  statement: string,
  { start, keyOf, toRecord }: Keyed<Row, Record>,
): Table<Record>["read"] {
  return async (run, after, limit) => {
    const key = after === "" ? start : (JSON.parse(after) as Key);
    const rows = (await run<QueryResultRow>(statement, [...key, limit])).rows as readonly Row[];
    const last = rows.at(-1);
    return {
      records: rows.map(toRecord),
      cursor: last === undefined ? after : JSON.stringify(keyOf(last)),
      hasMore: rows.length === limit,
    };
  };
}

export function writing<Record>(
  statement: string,
  columnsOf: (records: readonly Record[]) => Value[],
): Table<Record>["write"] {
  return async (run, records) => void (await run(statement, columnsOf(records)));
}
