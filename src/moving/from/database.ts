import { constants, Database, SQLiteError } from "bun:sqlite";
import { closeSync, openSync, readSync, statSync } from "node:fs";

import { requirePlain } from "../plain.ts";
import { type Input, UnreadableSource } from "../source.ts";

type Row = Readonly<Record<string, unknown>>;

/** Opens a database of SQLite without writing to it. `expected` says what the file should be. */
export function openDatabase({ path }: Input, expected: string) {
  const wrong = (what: string) => new UnreadableSource(`${what}. ${expected}`);
  if (path === undefined || !isFile(path))
    throw wrong("is no file: an SQLite database cannot be read from standard input or a pipe");
  requirePlain(beginningOf(path));
  const database = open(path, wrong);
  return {
    columns: (table: string): readonly string[] =>
      database
        .query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?1)")
        .all(table)
        .map(({ name }) => name),
    *rows(sql: string): Generator<Row> {
      try {
        yield* database.query<Row, []>(sql).iterate();
      } catch (error) {
        if (!(error instanceof SQLiteError)) throw error;
        throw wrong(`cannot be read to its end (${error.message})`);
      }
    },
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
    const { code = "", message } = error as { code?: string; message: string };
    if (code.startsWith("SQLITE_BUSY")) throw wrong("is locked by another program. Stop it");
    throw wrong(`is no SQLite database that can be read (${message})`);
  }
}

/** Whether it is a file that begins like an SQLite database. What is read of a pipe would be gone. */
export function isDatabase({ path }: Input): boolean {
  return path !== undefined && isFile(path) && beginningOf(path).toString("latin1") === "SQLite format 3";
}

function isFile(path: string): boolean {
  return statSync(path).isFile();
}

function beginningOf(path: string): Buffer {
  const descriptor = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(15);
    return bytes.subarray(0, readSync(descriptor, bytes));
  } finally {
    closeSync(descriptor);
  }
}
