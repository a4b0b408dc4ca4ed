import { constants, Database } from "bun:sqlite";

import { type Input, UnreadableSource } from "../source.ts";

type Row = Readonly<Record<string, unknown>>;

/** Opens a database of SQLite without writing to it. `expected` says what the file should be. */
export function openDatabase({ path }: Input, expected: string) {
  const wrong = (what: string) => new UnreadableSource(`${what}. ${expected}`);
  if (path === undefined) throw wrong("is no file: an SQLite database cannot be read from standard input");
  const database = open(path, wrong);
  return {
    columns: (table: string): readonly string[] =>
      database
        .query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?1)")
        .all(table)
        .map(({ name }) => name),
    rows: (sql: string): IterableIterator<Row> => database.query<Row, []>(sql).iterate(),
    wrong,
    [Symbol.dispose]: () => database.close(),
  };
}

function open(path: string, wrong: (what: string) => UnreadableSource): Database {
  const database = new Database(path, constants.SQLITE_OPEN_READONLY);
  try {
    // Fails if this is no database.
    database.query("SELECT count(*) FROM sqlite_schema").get();
    return database;
  } catch (error) {
    database.close();
    throw wrong(`is no SQLite database that can be read (${(error as Error).message})`);
  }
}

/** Whether the file begins like an SQLite database. */
export async function isDatabase({ path }: Input): Promise<boolean> {
  return path !== undefined && (await Bun.file(path).slice(0, 15).text()) === "SQLite format 3";
}
