import { chownSync, closeSync, existsSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { dirname, resolve } from "node:path";

import { StoreUnusable } from "../links/store.ts";
import { checkFile, hasFile } from "../store/sqlite/file.ts";
import { requireOurs } from "../store/sqlite/schema.ts";
import { hasSegments } from "../visits/journal/slots.ts";
import { beginFile } from "./file.ts";
import type { Progress } from "./progress.ts";

const CHUNK_BYTES = 1024 * 1024;

export interface RestoreOptions {
  /** The backup. */
  readonly file: string;
  /** Where the store is to be. */
  readonly path: string;
  readonly journalFolder: string;
  readonly progress: Progress;
}

/**
 * Makes a store of a backup, where there is none. What was copied is checked before it gets its name. Returns how many links
 * it has. Throws {@link StoreUnusable}.
 */
export function restoreBackup({ file, path, journalFolder, progress }: RestoreOptions): number {
  requireBackup(file);
  // SQLite would undo what a journal of another file says.
  if (hasFile(path) || ["", "-wal", "-shm", "-journal"].some((suffix) => existsSync(path + suffix)))
    throw new StoreUnusable(
      `There is a store at ${path}, and it is never overwritten. Move it away, with its -wal, -shm and -journal files, or restore elsewhere with --to.`,
    );
  if (hasSegments(journalFolder))
    throw new StoreUnusable(
      `${journalFolder} has visits of the store that was there, and a start would add them to this one. Move that folder away.`,
    );
  using part = beginFile(path);
  copy(file, part.path, progress);
  progress.checking();
  const report = checkFile(part.path, true);
  const [damage = "it is empty"] = report?.damage ?? [];
  if (report === undefined || report.damage.length > 0)
    throw new StoreUnusable(`${file} is damaged (${damage}). Nothing was restored. Take another backup.`);
  giveToOwnerOf(dirname(resolve(path)), part.path);
  part.name();
  return report.links;
}

/** Root restores, but the server runs as another user, who owns the folder of its store. */
function giveToOwnerOf(folder: string, file: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(folder);
  chownSync(file, uid, gid);
}

function requireBackup(file: string): void {
  if (!existsSync(file)) throw new StoreUnusable(`${file} is not there.`);
  requireOurs(file);
  // A store that is open, or a copy of one, or a backup that was killed: what is in the log would be missing.
  const log = ["-wal", "-journal"].map((suffix) => file + suffix).find(hasBytes);
  if (log !== undefined)
    throw new StoreUnusable(
      `${file} has a log beside it (${log}), so it is no finished backup. Make one with curt backup.`,
    );
}

function hasBytes(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function copy(from: string, to: string, progress: Progress): void {
  const [source, target] = [openSync(from, "r"), openSync(to, "r+")];
  try {
    const { size } = statSync(from);
    const chunk = new Uint8Array(CHUNK_BYTES);
    for (let at = 0; ;) {
      const length = readSync(source, chunk, 0, chunk.length, at);
      if (length === 0) return;
      for (let written = 0; written < length;)
        written += writeSync(target, chunk, written, length - written, at + written);
      at += length;
      progress.copied(at, size);
    }
  } finally {
    closeSync(source);
    closeSync(target);
  }
}
