// Opens the SQLite file for one writer, for readers, or to check it. Sets when commits are synced (`requireSync`).
import { Database, SQLiteError } from "bun:sqlite";
import { closeSync, existsSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";

import { isDiskFull, reasonOf } from "../../../lib/error-reason.ts";
import { createFolder, giveToOwnerOfFolder, rewriteFile, syncFolder } from "../../../lib/files.ts";
import { StoreUnusable, SyncFailed } from "../../../links/link-store.ts";
import { MAX_UNSENDABLE, type StoreReport } from "../../shared/records.ts";
import { isFailedSync } from "./failed-sync.ts";
import { FileDatabase } from "./file-database.ts";
import {
  type Identity,
  identify,
  isInPlace,
  replacedMeanwhile,
  requireNoLink,
  requireOneName,
} from "./file-identity.ts";
import { isCurrent, migrate, requireCurrentVersion, requireOurs, requireSchema } from "./schema.ts";
import { hasIndex, requireWholeWal } from "./wal.ts";

/** Older ones can corrupt a file whose WAL is reset while another connection writes. */
const OLDEST_SQLITE = [3, 51, 3];
/** How long a start waits for another process to commit. */
const BUSY_WAIT_MS = 5000;
/** Readers share the thread that redirects, and in WAL mode nothing but recovery can make them wait. */
const READER_BUSY_WAIT_MS = 100;

/** The index of the log takes 32 KiB, and the first pages of the log the rest. A migration needs more. */
export const OPENING_KIB = 64;

/**
 * Opens the file for durable writes ({@link requireSync}), and creates or migrates it where needed. Checks the header and
 * the schema; {@link checkFile} checks everything. With `openElsewhere`, accepts only the file that other processes have
 * open, and creates none. Throws {@link StoreUnusable}.
 *
 * The checks open and close the files, and closing a file releases all locks that the process has on it. So a process that
 * already has a connection calls {@link openSecondWriter}.
 */
export function openWriter(path: string, openElsewhere?: Identity, busyWaitMs = BUSY_WAIT_MS): FileDatabase {
  return explained(path, () => {
    requireSafeSqlite();
    if (openElsewhere !== undefined) requireSame(path, openElsewhere);
    requireNoLink(path);
    createFolder(dirname(path));
    requireOurs(path);
    requireOneName(path);
    requireLog(path);
    requireWholeWal(path);
    if (openElsewhere === undefined) createFile(path);
    return connect(path, identify(path).slice(0, 1), (database) => {
      database.run(`PRAGMA busy_timeout = ${busyWaitMs}`);
      migrate(database, path);
      requireSync(database);
      // Opens the WAL, which closing then removes even if nothing was written.
      database.run("SELECT 1 FROM sqlite_schema");
      // SQLite also syncs the name of a new log, but ignores errors.
      syncFolder(dirname(path));
      const isSound = openElsewhere !== undefined || emptyLogNow(database);
      database.run(`PRAGMA busy_timeout = ${busyWaitMs}`);
      if (!isSound) rewriteLog(database);
    });
  });
}

/**
 * After a failed sync, the log may have pages in memory only, and later commits would stand behind them. Doesn't wait for
 * readers: meanwhile no process could write.
 */
function emptyLogNow(database: FileDatabase): boolean {
  database.run("PRAGMA busy_timeout = 0");
  try {
    return database.emptyLog();
  } catch (error) {
    if (isFailedSync(error)) throw error;
    return false;
  }
}

/** For a log that can't be emptied. Waits for other writers, which must not change it meanwhile. */
function rewriteLog(database: Database): void {
  database.transaction(() => rewriteFile(`${database.filename}-wal`)).immediate();
}

/** Closes a connection of {@link openWriter}. Throws if the sync of the file fails, which SQLite itself ignores then. */
export function closeWriter(database: FileDatabase): void {
  emptyLogNow(database);
  database.close();
}

/** Opens a connection for durable writes in a process that already has one to the files `opened`. */
export function openSecondWriter(path: string, opened: Identity): FileDatabase {
  return explained(path, () => {
    requireSame(path, opened);
    return connect(path, opened, (database) => {
      database.run(`PRAGMA busy_timeout = ${BUSY_WAIT_MS}`);
      requireSync(database);
    });
  });
}

/** Lets root give the file to the folder's owner before SQLite has locks on it. The log gets the same owner. */
function createFile(path: string): void {
  try {
    closeSync(openSync(path, "wx"));
  } catch (error) {
    if ((error as { code?: unknown }).code === "EEXIST") return;
    throw error;
  }
  giveToOwnerOfFolder(path);
}

function connect(path: string, before: Identity, prepare: (database: FileDatabase) => void): FileDatabase {
  const database = new FileDatabase(path, { readwrite: true, strict: true });
  try {
    // Automatic checkpoints ignore errors. After a failed sync, another one can lose pages that SQLite counts as written.
    database.run("PRAGMA wal_autocheckpoint = 0");
    prepare(database);
    // Overwrites deleted data, such as yesterday's salt and links whose hold is over.
    database.run("PRAGMA secure_delete = ON");
    // After a burst of writes the WAL shrinks back to this.
    database.run("PRAGMA journal_size_limit = 67108864");
    if (!isInPlace(path, before)) throw replacedMeanwhile(path);
    return database;
  } catch (error) {
    // Closing would try the sync again.
    if (!isFailedSync(error)) database.close();
    throw error;
  }
}

function requireSame(path: string, openElsewhere: Identity): void {
  if (!isInPlace(path, openElsewhere))
    throw new StoreUnusable(
      `${path} is not the file that the other processes have open. Put that one back, or restart all of them.`,
    );
}

/**
 * SQLite would delete the log of a missing file, with the links in it. If only the log was deleted, it would start a
 * second one while another process keeps writing to the first.
 */
function requireLog(path: string): void {
  const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes === 0 && logBytes > 0)
    throw new StoreUnusable(
      `${path} is missing or empty, but ${path}-wal holds links of it. Put the file back, or move ${path}-wal away to start a new store.`,
    );
  // SQLite creates the log first and deletes it last. Checked twice, because another process may be doing either.
  const isLost = () => !existsSync(`${path}-wal`) && hasIndex(`${path}-shm`);
  if (isLost() && isLost())
    throw new StoreUnusable(
      `${path}-wal is missing, and may have held links. Put it back; or stop every Curt that uses ${path} and delete ${path}-shm.`,
    );
}

/** Opens a file that {@link openWriter} has prepared, for reading only. */
export function openReader(path: string): FileDatabase {
  return explained(path, () => {
    const database = new FileDatabase(path, { readonly: true, strict: true });
    database.run(`PRAGMA busy_timeout = ${READER_BUSY_WAIT_MS}`);
    return database;
  });
}

/** Whether there is a store or the log of one. In the latter case, opening it reports what to do. */
export function hasFile(path: string): boolean {
  return sizeOf(path) > 0 || sizeOf(`${path}-wal`) > 0;
}

/** 0 if there is no such file. Throws {@link StoreUnusable} if the folder cannot be read. */
function sizeOf(path: string): number {
  return explained(path, () => statSync(path, { throwIfNoEntry: false })?.size ?? 0);
}

/**
 * Opens an existing file for reading only, if this version can read it. Undefined if there is no file. `mayBeOlder` also
 * accepts an older schema.
 */
export function openChecked(path: string, mayBeOlder = false): Database | undefined {
  explained(path, () => requireNoLink(path));
  if (sizeOf(path) === 0) return undefined;
  return explained(path, () => {
    requireSafeSqlite();
    requireOurs(path);
    requireWholeWal(path);
    const database = openReader(path);
    try {
      if (!mayBeOlder) requireCurrentVersion(database, path);
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  });
}

/** Reads the whole file and returns its damage. Undefined if there is no file. */
export function checkFile(path: string, mayBeOlder = false): StoreReport | undefined {
  using database = openChecked(path, mayBeOlder);
  if (database === undefined) return undefined;
  return explained(path, () => {
    const damage = database
      .query<{ integrity_check: string }, []>("PRAGMA integrity_check")
      .all()
      .map((row) => row.integrity_check)
      .filter((line) => line !== "ok");
    if (damage.length > 0) return { links: 0, damage, unsendable: [] };
    if (isCurrent(database, path)) requireSchema(database, path);
    const row = database.query<{ links: number }, []>("SELECT count(*) AS links FROM links").get();
    const unsendable = database.query<{ code: string }, []>(UNSENDABLE).all();
    return { links: row?.links ?? 0, damage, unsendable: unsendable.map(({ code }) => code) };
  });
}

/** As `isSendable` decides. */
const UNSENDABLE = `
  SELECT code FROM links
  WHERE disabled IS NOT 'deleted' AND (coalesce(target, original_url) GLOB '*[^!-~]*'
    OR coalesce(target, original_url) NOT GLOB 'http:?*' AND coalesce(target, original_url) NOT GLOB 'https:?*')
  LIMIT ${MAX_UNSENDABLE}`;

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

/** From here on, COMMIT returns only after SQLite has synced the log: a create waits for its fsync there. */
function requireSync(database: Database): void {
  database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = FULL");
  // On macOS, a plain fsync leaves data in the cache of the disk. Other systems ignore this.
  database.run("PRAGMA fullfsync = ON");
  requirePragma(database, "journal_mode", "wal");
  requirePragma(database, "synchronous", 2);
}

function requirePragma(database: Database, name: string, wanted: string | number): void {
  const [value] = Object.values(database.query<Record<string, unknown>, []>(`PRAGMA ${name}`).get() ?? {});
  if (value !== wanted)
    throw new StoreUnusable(`The file system does not allow ${name}=${wanted}; Curt needs it to be durable.`);
}

/** Runs `open` and explains errors of SQLite and the file system. */
function explained<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (error instanceof StoreUnusable) throw error;
    if (isFailedSync(error))
      throw new SyncFailed(`${path} could not be synced. Check the disk.`, { cause: error });
    throw new StoreUnusable(explain(path, error), { cause: error });
  }
}

function explain(path: string, error: unknown): string {
  const reason = reasonOf(error);
  const code = (error as { code?: string }).code ?? "";
  if (/^SQLITE_(BUSY|LOCKED)/.test(code))
    return `${path} is locked by another program. Stop it, or wait until it is done.`;
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code)) return `${path} is damaged (${reason}). Restore a backup.`;
  if (isDiskFull(error))
    return `${path} cannot be opened: ${reason}. Make room: opening it needs at least ${OPENING_KIB} KiB.`;
  const what = error instanceof SQLiteError ? "cannot be opened" : "cannot be used";
  return `${path} ${what}: ${reason}. Check DATABASE_URL or DATA_DIR, the folder's permissions and the free space.`;
}
