// Files and folders as Curt makes them. They are for one user alone, because main.ts sets the umask.
import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  statSync,
} from "node:fs";
import { dirname, resolve } from "node:path";

/** A new folder is on disk only once its parent is synced. */
export function makeFolder(folder: string): void {
  const wanted = resolve(folder);
  const made = makeAll(wanted);
  if (made === undefined) return;
  const all: string[] = [];
  for (let path = wanted; path.length >= made.length; path = dirname(path)) all.unshift(path);
  for (const path of all) {
    giveToOwnerOfFolder(path);
    syncFolder(dirname(path));
  }
}

/** The first folder that was made. */
function makeAll(wanted: string): string | undefined {
  try {
    return mkdirSync(wanted, { recursive: true });
  } catch (cause) {
    // As in /proc. The system says that the folder is not there, which nobody doubts.
    if ((cause as NodeJS.ErrnoException).code === "ENOENT")
      throw new Error("no folder can be made there", { cause });
    throw cause;
  }
}

export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Root calls a command, but the server runs as another user, who owns the folder of its store. A link to a file of somebody else
 * that this user puts there meanwhile is left as it is, symbolic or hard. Not for a file that this process has locked: closing it
 * again ends the lock.
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
