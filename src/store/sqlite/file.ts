import { Database, SQLiteError } from "bun:sqlite";
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

import links from "./migrations/001-links.sql" with { type: "text" };
import clicks from "./migrations/002-clicks.sql" with { type: "text" };
import visits from "./migrations/003-visits.sql" with { type: "text" };

/** In order; the number of applied ones is the file's schema version (PRAGMA user_version). */
const MIGRATIONS = [links, clicks, visits];

/** "Curt" in ASCII: marks our files (PRAGMA application_id). */
const APPLICATION_ID = 0x43757274;
/** Older ones can corrupt a file whose WAL is reset while another connection writes. */
const OLDEST_SQLITE = [3, 51, 3];
/** How long a writer waits for another process to commit. */
const BUSY_WAIT_MS = 5000;
/** Readers share the thread that redirects, and in WAL mode nothing but recovery can make them wait. */
const READER_BUSY_WAIT_MS = 100;

/** The file cannot serve as the store; nothing in it was touched. The message says what to do. */
export class StoreUnusable extends Error {
  override readonly name = "StoreUnusable";
}

/**
 * Opens the file for writing, durably (WAL, synchronous=FULL), made or migrated where needed. Looks at the
 * header and the schema; {@link checkFile} looks at everything. Throws {@link StoreUnusable}.
 */
export function openWriter(path: string, busyWaitMs = BUSY_WAIT_MS): Database {
  return explained(path, () => {
    requireSafeSqlite();
    makeFolder(dirname(resolve(path)));
    requireOurs(path);
    const database = new Database(path, { create: true, readwrite: true, strict: true });
    try {
      database.run(`PRAGMA busy_timeout = ${busyWaitMs}`);
      migrate(database, path);
      database.run("PRAGMA journal_mode = WAL");
      database.run("PRAGMA synchronous = FULL");
      // What is deleted is overwritten: yesterday's salt, and links whose hold is over.
      database.run("PRAGMA secure_delete = ON");
      // What is deleted is overwritten: yesterday's salt, and links whose hold is over.
      database.run("PRAGMA secure_delete = ON");
      // After a burst of writes the WAL shrinks back to this.
      database.run("PRAGMA journal_size_limit = 67108864");
      requirePragma(database, "journal_mode", "wal");
      requirePragma(database, "synchronous", 2);
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  });
}

/** Opens a file that {@link openWriter} has prepared, for reading only. */
export function openReader(path: string): Database {
  return explained(path, () => {
    const database = new Database(path, { readonly: true, strict: true });
    database.run(`PRAGMA busy_timeout = ${READER_BUSY_WAIT_MS}`);
    return database;
  });
}

/** Reads the whole file and returns what is wrong with it; undefined when there is no file yet. */
export function checkFile(path: string): { links: number; damage: string[] } | undefined {
  if (!existsSync(path) || statSync(path).size === 0) return undefined;
  return explained(path, () => {
    requireSafeSqlite();
    requireOurs(path);
    using database = openReader(path);
    requireCurrentVersion(database, path);
    const damage = database
      .query<{ integrity_check: string }, []>("PRAGMA integrity_check")
      .all()
      .map((row) => row.integrity_check)
      .filter((line) => line !== "ok");
    if (damage.length > 0) return { links: 0, damage };
    requireSchema(database, path);
    return {
      links: database.query<{ count: number }, []>("SELECT count(*) AS count FROM links").get()?.count ?? 0,
      damage,
    };
  });
}

function requireSafeSqlite(): void {
  using database = new Database(":memory:");
  const version =
    database.query<{ version: string }, []>("SELECT sqlite_version() AS version").get()?.version ?? "0";
  const parts = version.split(".").map(Number);
  const differing = OLDEST_SQLITE.findIndex((part, at) => part !== parts[at]);
  if (differing >= 0 && (parts[differing] ?? 0) < (OLDEST_SQLITE[differing] ?? 0)) {
    throw new StoreUnusable(
      `SQLite ${version} can corrupt its files; ${OLDEST_SQLITE.join(".")} or newer is needed.`,
    );
  }
}

/** A new folder is on disk only once its parent is synced. */
function makeFolder(folder: string): void {
  const made = mkdirSync(folder, { recursive: true });
  if (made === undefined) return;
  for (let path = folder; path.length >= made.length; path = dirname(path)) syncFolder(dirname(path));
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Reads the header (https://www.sqlite.org/fileformat2.html#the_database_header) without SQLite, which may
 * write even when it only reads.
 */
function requireOurs(path: string): void {
  if (!existsSync(path)) return;
  if (!statSync(path).isFile())
    throw new StoreUnusable(`${path} is not a file. Point DATABASE_URL at a file.`);
  const header = new DataView(new ArrayBuffer(100));
  const descriptor = openSync(path, "r");
  let length: number;
  try {
    length = readSync(descriptor, header);
  } finally {
    closeSync(descriptor);
  }
  // Empty, or its making was cut off: SQLite rolls that back from the journal.
  if (length === 0 || existsSync(`${path}-journal`)) return;
  const magic = new TextDecoder("latin1").decode(header.buffer.slice(0, 16));
  if (length < 100 || magic !== "SQLite format 3\0") {
    throw new StoreUnusable(
      `${path} is not a SQLite file, or is damaged. Restore a backup or point DATABASE_URL elsewhere.`,
    );
  }
  if (header.getUint32(68) !== APPLICATION_ID) throw belongsToAnother(path);
  requireKnownVersion(path, header.getUint32(60));
}

function requireKnownVersion(path: string, version: number): void {
  if (version > MIGRATIONS.length) {
    throw new StoreUnusable(
      `${path} has schema ${version}, made by a newer Curt; this one knows ${MIGRATIONS.length}. Use the newer version.`,
    );
  }
}

function requireCurrentVersion(database: Database, path: string): void {
  const version = schemaVersion(database);
  requireKnownVersion(path, version);
  if (version < MIGRATIONS.length) {
    throw new StoreUnusable(
      `${path} has schema ${version}; starting Curt brings it to ${MIGRATIONS.length}.`,
    );
  }
}

function schemaVersion(database: Database): number {
  return database.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
}

/**
 * All in one transaction, so that two processes starting at once make the schema once, and a file that turns out
 * not to be ours stays as it was. It begins even where nothing is to do: a file that cannot be written is no store.
 */
function migrate(database: Database, path: string): void {
  database
    .transaction(() => {
      const version = schemaVersion(database);
      requireKnownVersion(path, version);
      if (version === 0) requireEmpty(database, path);
      for (const migration of MIGRATIONS.slice(version)) database.run(migration);
      if (version < MIGRATIONS.length) {
        database.run(`PRAGMA application_id = ${APPLICATION_ID}`);
        database.run(`PRAGMA user_version = ${MIGRATIONS.length}`);
      }
      requireSchema(database, path);
    })
    .immediate();
}

/** What the header could not tell, because a journal had to be rolled back first. */
function requireEmpty(database: Database, path: string): void {
  if (database.query("SELECT 1 FROM sqlite_schema").get() !== null) throw belongsToAnother(path);
}

function belongsToAnother(path: string): StoreUnusable {
  return new StoreUnusable(`${path} belongs to another program. Point DATABASE_URL at a file of Curt's own.`);
}

function requirePragma(database: Database, name: string, wanted: string | number): void {
  const [value] = Object.values(database.query<Record<string, unknown>, []>(`PRAGMA ${name}`).get() ?? {});
  if (value !== wanted)
    throw new StoreUnusable(`The file system does not allow ${name}=${wanted}; Curt needs it to be durable.`);
}

/** Looks for every table and index that the migrations make; what other tools add beside them is theirs. */
function requireSchema(database: Database, path: string): void {
  using fresh = new Database(":memory:");
  for (const migration of MIGRATIONS) fresh.run(migration);
  const wanted = fresh
    .query<{ name: string; sql: string | null }, []>("SELECT name, sql FROM sqlite_schema")
    .all();
  const find = database.query<{ sql: string | null }, [string]>(
    "SELECT sql FROM sqlite_schema WHERE name = ?1",
  );
  const differing = wanted.filter(({ name, sql }) => find.get(name)?.sql !== sql).map(({ name }) => name);
  if (differing.length > 0) {
    throw new StoreUnusable(
      `${path} lacks or has changed: ${differing.join(", ")} of schema ${MIGRATIONS.length}. Restore a backup.`,
    );
  }
}

/** Runs `open` and turns what SQLite and the file system throw into words. */
function explained<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw error instanceof StoreUnusable ? error : new StoreUnusable(explain(path, error), { cause: error });
  }
}

function explain(path: string, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  const code = (error as { code?: string }).code ?? "";
  if (/^SQLITE_(BUSY|LOCKED)/.test(code))
    return `${path} is locked by another program. Stop it, or wait until it is done.`;
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code)) return `${path} is damaged (${reason}). Restore a backup.`;
  const what = error instanceof SQLiteError ? "cannot be opened" : "cannot be used";
  return `${path} ${what}: ${reason}. Check DATABASE_URL, the folder's permissions and the free space.`;
}
