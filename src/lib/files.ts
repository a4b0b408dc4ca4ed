// Creates files and folders. They are private to one user, because main.ts sets the umask.
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
export function createFolder(folder: string): void {
  const target = resolve(folder);
  const first = createAll(target);
  if (first === undefined) return;
  const all: string[] = [];
  for (let path = target; path.length >= first.length; path = dirname(path)) all.unshift(path);
  for (const path of all) {
    giveToOwnerOfFolder(path);
    syncFolder(dirname(path));
  }
}

/** Returns the first folder that it created. */
function createAll(folder: string): string | undefined {
  try {
    return mkdirSync(folder, { recursive: true });
  } catch (cause) {
    // As in /proc, where the system only says that the folder doesn't exist.
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
