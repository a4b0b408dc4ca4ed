import { closeSync, existsSync, openSync, readSync, statSync, writeSync } from "node:fs";

import { giveToOwnerOfFolder } from "../lib/files.ts";
import { StoreUnusable } from "../links/store.ts";
import { checkFile, hasFile } from "../store/sqlite/file/file.ts";
import { hasSegments } from "../visits/journal/slots.ts";
import { beginFile } from "./file.ts";
import type { Progress } from "./progress.ts";
import { requireBackup } from "./source.ts";

const CHUNK_BYTES = 1024 * 1024;

export interface RestoreOptions {
  /** The backup. */
  readonly file: string;
  /** Where the store is to be. */
  readonly path: string;
  readonly journalFolder: string;
  readonly progress: Progress;
}

export interface Restored {
  readonly links: number;
  /** The file was copied from a store, maybe while that was written to. */
  readonly isCopy: boolean;
}

/**
 * Makes a store of a backup, where there is none. What was copied is checked before it gets its name. Throws
 * {@link StoreUnusable}.
 */
export function restoreBackup({ file, path, journalFolder, progress }: RestoreOptions): Restored {
  const { isCopy } = requireBackup(file);
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
  const links = requireWhole(file, part.path);
  giveToOwnerOfFolder(part.path);
  part.name();
  return { links, isCopy };
}

function requireWhole(file: string, copied: string): number {
  try {
    const report = checkFile(copied, true);
    const [damage] = report?.damage ?? ["it is empty"];
    if (report === undefined || damage !== undefined) throw damaged(file, damage);
    return report.links;
  } catch (error) {
    if (!(error instanceof StoreUnusable) || error.cause === undefined) throw error;
    const { code, message } = error.cause as { code?: unknown; message: string };
    throw /^SQLITE_(NOTADB|CORRUPT)/.test(String(code)) ? damaged(file, message) : error;
  }
}

function damaged(file: string, damage = "it is empty"): StoreUnusable {
  return new StoreUnusable(`${file} is damaged (${damage}). Nothing was restored. Take another backup.`);
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
