import { closeSync, fsyncSync, linkSync, lstatSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

import { reasonOf } from "../lib/error-reason.ts";
import { createFolder, syncFolder } from "../lib/files.ts";
import { StoreUnavailable, StoreUnusable } from "../links/store.ts";

// A file that gets its name only once it is whole and on disk.

/** What becomes of a file that is being written. */
export interface PartFile {
  readonly path: string;
  /** Gives it its name, which nothing may have. */
  name(): void;
  /** Deletes what was not named, unless somebody else began the same file meanwhile. */
  [Symbol.dispose](): void;
}

/** What SQLite may leave beside a file when it is killed. */
const BESIDE = ["", "-wal", "-shm", "-journal"];
/** Of a file system without hard links. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/**
 * Begins `<file>.part`, empty. One that an earlier run left is deleted. Throws {@link StoreUnusable} if the file is
 * there already.
 */
export function createPartFile(file: string): PartFile {
  const path = `${file}.part`;
  requireFree(file);
  createFolder(dirname(file));
  const remove = () => BESIDE.forEach((suffix) => rmSync(path + suffix, { force: true }));
  remove();
  closeSync(openSync(path, "wx", 0o600));
  const { ino } = statSync(path);
  const isOurs = () => statSync(path, { throwIfNoEntry: false })?.ino === ino;
  return {
    path,
    name() {
      if (!isOurs()) throw new StoreUnusable(`${path} was replaced while it was being written. Try again.`);
      sync(path);
      rename(path, file);
      syncFolder(dirname(resolve(file)));
    },
    [Symbol.dispose]() {
      if (isOurs()) remove();
    },
  };
}

function requireFree(file: string): void {
  if (file === "") throw new StoreUnusable("The name of the file is empty.");
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) throw isThere(file);
}

function isThere(file: string): StoreUnusable {
  return new StoreUnusable(`${file} is there already, and is never overwritten. Name another file.`);
}

/** A link fails where a rename would replace what somebody made meanwhile. */
function rename(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    const { code = "" } = error as { code?: string };
    if (code === "EEXIST") throw isThere(to);
    if (!NO_LINKS.has(code)) throw error;
    requireFree(to);
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

/** Turns what the system and SQLite throw while a file is written into words. */
export async function explained<T>(file: string, write: () => T | Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const { code } = error as { code?: unknown };
    const isExpected = typeof code === "string" || error instanceof StoreUnavailable;
    if (error instanceof StoreUnusable || !isExpected) throw error;
    throw new StoreUnusable(
      `${file} could not be made: ${reasonOf(error)}. It takes as much room as the store: check the free space and the folder's permissions.`,
      { cause: error },
    );
  }
}

/** What a command that copies a file tells meanwhile. */
export interface Progress {
  copied(bytes: number, ofBytes: number): void;
  /** The copy is complete, and is read from end to end. */
  checking(): void;
}
