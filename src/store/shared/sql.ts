/**
 * The port on which everything cold is written once for both engines. Its SQL is what both understand, with parameters
 * $1, $2, … and neither casts nor arrays. PostgreSQL's `Database` implements it as it is. `sqlite/sql.ts` leaves out what
 * locks rows, since SQLite has one writer, and runs statements synchronously. No other task interleaves with the promise of
 * such a transaction, because the writer's thread performs its tasks one at a time.
 */
export interface Statements {
  /** In a transaction of its own. */
  readonly run: Run;
  /** Several statements in one transaction, which is rolled back if `work` rejects. `work` may run again, after a rollback. */
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

/** In one statement. Engines allow about 32,000 parameters. */
const ROWS_AT_ONCE = 1000;

/** Inserts rows in their order. `columns` come with the name of the table. Returns what the statement returns, if anything. */
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

/** PostgreSQL refuses text with a NUL. Nothing can be found by such a text, so the database need not be asked. */
export function isStorable(text: string): boolean {
  return !text.includes("\0");
}

/** For text that may contain any characters, such as notes: it is stored as UTF-8. */
export function bytesOf(text: string): Uint8Array {
  return Buffer.from(text);
}

export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}
