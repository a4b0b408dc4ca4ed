/**
 * The port on which rarely used statements are written once, in SQL that both engines understand. It has parameters $1, $2,
 * … and neither casts nor arrays. PostgreSQL's `Database` implements it. `sqlite/sql.ts` drops row locks, since SQLite has
 * one writer, and runs statements synchronously: the writer's thread performs one task at a time, so no other task
 * interleaves with a transaction.
 */
export interface Statements {
  /** In a transaction of its own. */
  readonly run: Run;
  /** Runs `work` in one transaction. Rolls back if `work` rejects, and may then run it again. */
  transaction<T>(work: (run: Run) => Promise<T>): Promise<T>;
}

export type Run = <Row = never>(text: string, values?: readonly Value[]) => Promise<Result<Row>>;

interface Result<Row> {
  readonly rows: readonly Row[];
}

/** `undefined` counts as NULL. */
export type Value = string | number | boolean | Uint8Array | null | undefined;

/** The parameters of a list of values: "$1, $2". */
export function list(values: readonly unknown[], first = 1): string {
  return values.map((_, nth) => `$${first + nth}`).join(", ");
}

/** Rows per statement. Engines allow about 32,000 parameters. */
const ROWS_AT_ONCE = 1000;

/** Inserts rows in their order. `columns` starts with the table. Returns the rows of a RETURNING clause. */
export async function insertInto<Row = never>(
  run: Run,
  columns: string,
  rows: readonly (readonly Value[])[],
  rest = "",
): Promise<Row[]> {
  const returned: Row[] = [];
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    const some = rows.slice(from, from + ROWS_AT_ONCE);
    const tuples = some.map((row, nth) => `(${list(row, nth * row.length + 1)})`).join(", ");
    returned.push(...(await run<Row>(`INSERT INTO ${columns} VALUES ${tuples} ${rest}`, some.flat())).rows);
  }
  return returned;
}

/** PostgreSQL refuses text with a NUL, so no row has such a text. */
export function isStorable(text: string): boolean {
  return !text.includes("\0");
}

/** Stores text with arbitrary characters, such as notes, as UTF-8. */
export function bytesOf(text: string): Uint8Array {
  return Buffer.from(text);
}

export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}
