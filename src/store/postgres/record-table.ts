// How records are read from and written to PostgreSQL, in a transaction.
import type { QueryResultRow } from "pg";

import type { Kind, RecordOf } from "../records.ts";
import type { Run, Value } from "./connection/database.ts";

/** Records in a batch that is read. */
const PART_RECORDS = 1000;

interface Table<Record> {
  read(run: Run): AsyncGenerator<readonly Record[]>;
  /** Returns how many were added. */
  write(run: Run, records: readonly Record[]): Promise<number>;
}

export type Tables<K extends Kind = Kind> = { readonly [Each in K]: Table<RecordOf[Each]> };

/** `toRecord` must take the statement's rows. */
export function reading<Record>(statement: string, toRecord: (row: never) => Record): Table<Record>["read"] {
  return async function* read(run) {
    await run(`DECLARE records NO SCROLL CURSOR FOR ${statement}`);
    for (;;) {
      const { rows } = await run<QueryResultRow>(`FETCH ${PART_RECORDS} FROM records`);
      if (rows.length === 0) break;
      yield (rows as readonly never[]).map(toRecord);
    }
    await run("CLOSE records");
  };
}

export function writing<Record>(
  statement: string,
  columnsOf: (records: readonly Record[]) => Value[],
): Table<Record>["write"] {
  return async (run, records) => (await run(statement, columnsOf(records))).count;
}
