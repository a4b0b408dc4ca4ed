// Creates files and folders. They are private to one user, because main.ts sets the umask.
import {
  closeSync,
  constants,
  existsSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  readSync,
  statfsSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Creates a folder and the missing ones above it. Each is on disk only once its parent is synced, so this syncs the parent
 * before it creates the next one. It also syncs existing folders, whose creator may have been killed before its sync.
 */
export function createFolder(folder: string): void {
  const path = resolve(folder);
  const parent = dirname(path);
  if (!existsSync(path)) createFolder(parent);
  if (make(path) !== undefined) giveToOwnerOfFolder(path);
  syncFolder(parent);
}

/** Returns undefined if the folder exists. */
function make(folder: string): string | undefined {
  try {
    return mkdirSync(folder, { recursive: true });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "EEXIST" && lstatSync(folder).isSymbolicLink())
      throw new Error(`${folder} is a symbolic link to ${readlinkSync(folder)}, which does not exist`, {
        cause,
      });
    // As in /proc, where the system only says that the folder doesn't exist.
    if (code === "ENOENT") throw new Error("no folder can be created there", { cause });
    throw cause;
  }
}

/** The errors of folders that Curt may not read, and of file systems that don't sync folders. */
const CANNOT_SYNC = new Set(["EACCES", "EBADF", "EINVAL"]);

/** Puts the names in a folder on disk, where that is possible. */
export function syncFolder(folder: string): void {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(folder, "r");
    fsyncSync(descriptor);
  } catch (error) {
    if (!CANNOT_SYNC.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/**
 * For commands run by root, while the server runs as the owner of the folder. Ignores symbolic and hard links, which this owner
 * could point at files of others. Not for a file that this process has locked: closing it again would end the lock.
 */
export function giveToOwnerOfFolder(path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(resolve(path)));
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const file = fstatSync(descriptor);
    if (file.isDirectory() || (file.isFile() && file.nlink === 1)) fchownSync(descriptor, uid, gid);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * `writeSync` writes fewer bytes where the disk becomes full, and throws only the next time. `at` is the position, by default the
 * current one.
 */
export function writeAll(descriptor: number, bytes: Uint8Array, at?: number): void {
  for (let written = 0; written < bytes.length;)
    written += writeSync(
      descriptor,
      bytes,
      written,
      bytes.length - written,
      at === undefined ? null : at + written,
    );
}

/**
 * Rewrites a file with its own contents and syncs it. After a failed sync, some pages may be only in memory, and another sync
 * writes just those that changed since.
 */
export function rewriteFile(path: string): void {
  const descriptor = openSync(path, "r+");
  try {
    const chunk = new Uint8Array(CHUNK_BYTES);
    for (let at = 0, length = 0; (length = readSync(descriptor, chunk, 0, CHUNK_BYTES, at)) > 0; at += length)
      writeAll(descriptor, chunk.subarray(0, length), at);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const CHUNK_BYTES = 1024 * 1024;

/** Far more than the index of a log and a page of it, because other programs write during a start. */
const NEARLY_FULL_BYTES = 1024 * 1024;

/** Whether there might be no room to create files again that are deleted now. Ignores quotas. */
export function isNearlyFull(folder: string): boolean {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize < NEARLY_FULL_BYTES;
}
