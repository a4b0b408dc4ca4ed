import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";

import { giveToOwnerOfFolder, writeAll } from "../lib/files.ts";
import { StoreUnusable } from "../links/link-store.ts";
import { checkFile, hasFile } from "../store/sqlite/file/file.ts";
import { APPLICATION_ID, isSqlite, readHeader, requireOurs } from "../store/sqlite/file/schema.ts";
import { journalState } from "../visits/journal/journal-state.ts";
import { readJournalStore } from "../visits/journal/journal-store.ts";
import { checkPart, createPartFile, SQLITE_FILES, type Progress } from "./new-file.ts";

const CHUNK_BYTES = 1024 * 1024;

export interface RestoreOptions {
  /** The backup. */
  readonly file: string;
  /** The store to create. */
  readonly path: string;
  readonly journalFolder: string;
  readonly progress: Progress;
}

/**
 * Copies a backup to the path of a new store, and checks the copy before it gets its name. Returns the number of links.
 * `isCopy`: the file was copied from a store, as Litestream does. Throws {@link StoreUnusable}.
 */
export function restoreBackup({ file, path, journalFolder, progress }: RestoreOptions) {
  const { isCopy } = requireBackup(file);
  // SQLite would apply the journal of another file.
  if (hasFile(path) || SQLITE_FILES.some((suffix) => existsSync(path + suffix)))
    throw new StoreUnusable(
      `There is a store at ${path}, and it is never overwritten. Move it away, with its -wal, -shm and -journal files, or restore elsewhere with --to.`,
    );
  requireFreeJournal(journalFolder, path);
  using part = createPartFile(path);
  copy(file, part.path, progress);
  progress.checking();
  const links = checkPart(part.path, { source: file, file: path }, () => requireWhole(file, part.path));
  giveToOwnerOfFolder(part.path);
  part.name();
  return { links, isCopy };
}

/** A start would refuse the journal of another store, and add visits of an earlier store at this path. */
function requireFreeJournal(journalFolder: string, path: string): void {
  const owner = readJournalStore(journalFolder);
  if (owner !== undefined && existsSync(owner.place))
    throw new StoreUnusable(
      `${journalFolder} is the journal of ${owner.place}. To restore to ${path} beside it, set DATA_DIR to another folder.`,
    );
  const state = journalState(journalFolder);
  if (state === "served")
    throw new StoreUnusable(
      `A running Curt uses ${journalFolder}. Stop it, or set DATA_DIR to another folder to restore beside it.`,
    );
  if (state === "waiting")
    throw new StoreUnusable(
      `${journalFolder} has visits of the store that was at ${owner?.place ?? path}. Move that folder away, and keep it with that store.`,
    );
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
      writeAll(target, chunk.subarray(0, length), at);
      at += length;
      progress.copied(at, size);
    }
  } finally {
    closeSync(source);
    closeSync(target);
  }
}

/** Offsets in https://www.sqlite.org/fileformat2.html#the_database_header */
const Header = {
  pageBytes: 16,
  writeVersion: 18,
  changes: 24,
  pages: 28,
  application: 68,
  changesAtPages: 92,
};
const WAL = 2;
const MAX_PAGE_BYTES = 65_536;

/** gzip, zstd, xz, bzip2 and zip. */
const COMPRESSED = ["\u001f\u008b", "\u0028\u00b5\u002f\u00fd", "\u00fd7zXZ", "BZh", "PK\u0003\u0004"];
const EXPORT = '{"format":"curt-export"';

/** Throws {@link StoreUnusable} with advice that depends on what the file is. */
function requireBackup(file: string): { readonly isCopy: boolean } {
  const bytes = sizeOf(file);
  const { header, length } = explained(file, () => readHeader(file));
  const beginning = Buffer.from(header.buffer).toString("latin1");
  if (file.endsWith(".part")) throw new StoreUnusable(`${file} is an unfinished backup. Take another one.`);
  if (bytes === 0) throw new StoreUnusable(`${file} is empty. Take another backup.`);
  if (COMPRESSED.some((magic) => beginning.startsWith(magic)))
    throw new StoreUnusable(`${file} is compressed. Unpack it, and restore what comes out.`);
  if (beginning.startsWith(EXPORT))
    throw new StoreUnusable(`${file} is an export, not a backup. Import it with curt import ${file}.`);
  if (!isSqlite(header, length))
    throw new StoreUnusable(
      `${file} is not a SQLite file, so it is not a backup. Name a file that curt backup created.`,
    );
  if (header.getUint32(Header.application) !== APPLICATION_ID)
    throw new StoreUnusable(
      `${file} belongs to another program. Name a file that curt backup created. To import links of other shorteners, see curt import --help.`,
    );
  requireOurs(file);
  requireNoLog(file);
  requireAllPages(file, header, bytes);
  return { isCopy: header.getUint8(Header.writeVersion) === WAL };
}

function sizeOf(file: string): number {
  const entry = explained(file, () => statSync(file, { throwIfNoEntry: false }));
  if (entry === undefined) throw new StoreUnusable(`${file} does not exist.`);
  if (entry.isDirectory()) throw new StoreUnusable(`${file} is a folder. Name one of the backups in it.`);
  if (!entry.isFile())
    throw new StoreUnusable(`${file} is not a file. Name a file that curt backup created.`);
  return entry.size;
}

function explained<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreUnusable(`${file} cannot be read: ${reason}. Call the command as its owner, or as root.`, {
      cause: error,
    });
  }
}

/** Refuses an open store, or a copy of one, because the contents of its log would be missing. */
function requireNoLog(file: string): void {
  const log = ["-wal", "-journal"].map((suffix) => file + suffix).find(hasBytes);
  if (log !== undefined)
    throw new StoreUnusable(
      `${file} has a log beside it (${log}), so it is not a finished backup. Back it up with DATABASE_URL=sqlite:${file} curt backup FILE, and restore that.`,
    );
}

function hasBytes(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function requireAllPages(file: string, header: DataView, bytes: number): void {
  const pageBytes = header.getUint16(Header.pageBytes);
  // Programs that don't update the number of pages leave an old one.
  const isKnown = header.getUint32(Header.changes) === header.getUint32(Header.changesAtPages);
  const whole = header.getUint32(Header.pages) * (pageBytes === 1 ? MAX_PAGE_BYTES : pageBytes);
  if (isKnown && bytes < whole)
    throw new StoreUnusable(
      `${file} is cut off: it has ${bytes} of ${whole} bytes. Copy it again, or take another backup.`,
    );
}
