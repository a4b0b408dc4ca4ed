import { closeSync, fsyncSync, linkSync, lstatSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

import { reasonOf } from "../lib/error-reason.ts";
import { createFolder, syncFolder } from "../lib/files.ts";
import { StoreUnavailable, StoreUnusable, SyncFailed } from "../links/link-store.ts";
import { isFailedSync } from "../store/sqlite/file/failed-sync.ts";

/** The suffixes of the files that SQLite may leave when it is killed. */
export const SQLITE_FILES = ["", "-wal", "-shm", "-journal"];
/** Errors of file systems without hard links. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/**
 * Creates an empty `<file>.part`, which gets its name when it is complete and on disk. Replaces one of an earlier run.
 * Throws {@link StoreUnusable} if `file` exists.
 */
export function createPartFile(file: string) {
  const path = `${file}.part`;
  requireMissing(file);
  createFolder(dirname(file));
  const remove = () => SQLITE_FILES.forEach((suffix) => rmSync(path + suffix, { force: true }));
  remove();
  closeSync(openSync(path, "wx", 0o600));
  const { ino } = statSync(path);
  const isOurs = () => statSync(path, { throwIfNoEntry: false })?.ino === ino;
  return {
    path,
    /** Renames the part to `file`, unless that exists by now. */
    name(): void {
      if (!isOurs()) throw new StoreUnusable(`${path} was replaced while it was being written. Try again.`);
      sync(path);
      rename(path, file);
      // Curt refuses to start on a store with two names.
      remove();
      syncFolder(dirname(resolve(file)));
    },
    /** Deletes an unnamed part, unless another process has replaced it. */
    [Symbol.dispose](): void {
      if (isOurs()) remove();
    },
  };
}

/**
 * Checks a part file, whose name the operator doesn't know: errors about its content name `source`, and errors of the system
 * name `file`.
 */
export function checkPart<T>(
  part: string,
  { source, file }: { readonly source: string; readonly file: string },
  check: () => T,
): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof StoreUnusable)) throw error;
    const known = error.cause === undefined ? source : file;
    throw new StoreUnusable(error.message.replaceAll(part, known), { cause: error.cause });
  }
}

function requireMissing(file: string): void {
  if (file === "") throw new StoreUnusable("The name of the file is empty.");
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) throw alreadyExists(file);
}

function alreadyExists(file: string): StoreUnusable {
  return new StoreUnusable(`${file} already exists, and is never overwritten. Name another file.`);
}

/** Links, because a rename would replace a file that somebody created meanwhile. */
function rename(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    const { code = "" } = error as { code?: string };
    if (code === "EEXIST") throw alreadyExists(to);
    if (!NO_LINKS.has(code)) throw error;
    requireMissing(to);
    renameSync(from, to);
  }
}

function sync(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Explains errors of the system and SQLite while a file is written. */
export async function explained<T>(file: string, write: () => T | Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const { code } = error as { code?: unknown };
    const isExpected = typeof code === "string" || error instanceof StoreUnavailable;
    if (isFailedSync(error)) throw new SyncFailed(`${file} could not be synced.`, { cause: error });
    if (error instanceof StoreUnusable || error instanceof SyncFailed || !isExpected) throw error;
    throw new StoreUnusable(
      `${file} could not be created: ${reasonOf(error)}. It needs as much space as the store: check the free space and the folder's permissions.`,
      { cause: error },
    );
  }
}

/** Callbacks with the progress of a copy. */
export interface Progress {
  copied(bytes: number, ofBytes: number): void;
  /** The copy is complete and is being checked. */
  checking(): void;
}
