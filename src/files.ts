// Files and folders as Curt makes them. That they are for one user alone is settled in main.ts, for all of them at once.
import { closeSync, fsyncSync, lchownSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** A new folder is on disk only once its parent is synced. */
export function makeFolder(folder: string): void {
  const wanted = resolve(folder);
  const made = mkdirSync(wanted, { recursive: true });
  if (made === undefined) return;
  const all: string[] = [];
  for (let path = wanted; path.length >= made.length; path = dirname(path)) all.unshift(path);
  for (const path of all) {
    giveToOwnerOfFolder(path);
    syncFolder(dirname(path));
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
 * Root calls a command, but the server runs as another user, who owns the folder of its store. A symbolic link that this user
 * puts there meanwhile is not followed.
 */
export function giveToOwnerOfFolder(path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(resolve(path)));
  lchownSync(path, uid, gid);
}
