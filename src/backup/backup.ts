// One file with everything: the store as it was at one moment, and the visits that were still on their way to it.
import { closeSync, constants, mkdirSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";

import { reasonOf } from "../lib/error-reason.ts";
import { createFolder, giveToOwnerOfFolder } from "../lib/files.ts";
import { StoreUnavailable, StoreUnusable, SyncFailed } from "../links/link-store.ts";
import { checkFile } from "../store/sqlite/file/file.ts";
import { checkpoint, leaveWal, openSnapshot, type Snapshot } from "../store/sqlite/file/snapshot.ts";
import { readIdentity } from "../store/sqlite/file/store-identity.ts";
import { trying } from "../store/sqlite/sql.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { startFolding } from "../visits/journal/folding.ts";
import { requireOwnJournal } from "../visits/journal/journal-store.ts";
import { type SegmentCopy, copySegments } from "../visits/journal/segment-copy.ts";
import { lockFile } from "../visits/journal/slots.ts";
import { checkPart, createPartFile, type Progress } from "./new-file.ts";

/** Folding a segment takes a few milliseconds, but up to a second for a busy one. */
const MAX_TRIES = 100;
const RETRY_MS = 100;

export interface BackupOptions {
  /** The store. */
  readonly path: string;
  readonly journalFolder: string;
  /** The backup. */
  readonly file: string;
  readonly progress: Progress;
}

/**
 * Creates a backup while others serve the store. The backup is one file: a snapshot of the store, with the visits that were
 * still in the journal. It has everything that was answered before the call. Resolves with the number of links. Throws
 * {@link StoreUnusable}.
 */
export async function createBackup({ path, journalFolder, file, progress }: BackupOptions): Promise<number> {
  createFolder(journalFolder);
  const identity = readIdentity(path);
  if (identity !== undefined) requireOwnJournal(journalFolder, identity);
  using lock = lockBackups(journalFolder);
  if (lock === undefined) throw new StoreUnusable(`Another backup of ${path} is running. Wait for it.`);
  using part = createPartFile(file);
  const folder = `${part.path}-visits`;
  makeFolder(folder);
  using _ = { [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
  const { snapshot, segments } = await openSources(path, journalFolder, folder);
  try {
    await snapshot.copy(part.path, progress.copied);
  } finally {
    snapshot.close();
  }
  shortenLog(path);
  await foldInto(part.path, segments);
  trying(() => leaveWal(part.path));
  progress.checking();
  const { links } = checkPart(part.path, { source: path, file }, () => requireWhole(part.path));
  part.name();
  return links;
}

/** The copy is complete, so a full disk of the store is no reason to drop it. A failed sync ends the command nevertheless. */
function shortenLog(path: string): void {
  try {
    trying(() => checkpoint(path));
  } catch (error) {
    if (!(error instanceof StoreUnavailable) || error instanceof SyncFailed) throw error;
  }
}

/**
 * Prevents two backups at once, which would both hold up the store's log. Undefined while another process has the lock. The
 * server holds `schedule` from its decision to start a backup until the end.
 */
export function lockBackups(
  journalFolder: string,
  name: "backup" | "schedule" = "backup",
): Disposable | undefined {
  const path = join(journalFolder, `${name}.lock`);
  // If root creates a backup, Curt's own user must still be able to. Done before locking, because closing a file releases all
  // locks that the process has on it.
  try {
    // Curt's user could have put a link to root's files there.
    closeSync(openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW, 0o600));
  } catch (cause) {
    throw new StoreUnusable(`${path} cannot be locked: ${reasonOf(cause)}`, { cause });
  }
  giveToOwnerOfFolder(path);
  return lockFile(path);
}

/**
 * Copies the segments, then opens a snapshot. So each visit is in a segment, in the snapshot, or in both: the store
 * remembers how far it has added each segment, and adds no row twice.
 */
async function openSources(path: string, journalFolder: string, folder: string) {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const early = copyInto(journalFolder, join(folder, "early"));
    const snapshot = openSnapshot(path);
    try {
      const segments = chooseSegments(early, snapshot, () => copyInto(journalFolder, join(folder, "late")));
      if (segments !== undefined) return { snapshot, segments };
    } catch (error) {
      snapshot.close();
      throw error;
    }
    snapshot.close();
    await Bun.sleep(RETRY_MS);
  }
  throw new StoreUnusable(`The visits in ${journalFolder} change faster than they can be copied. Try again.`);
}

/**
 * Chooses the segments to add to a snapshot that was taken after `early` was copied. If the snapshot has some rows of a
 * segment, they are in its final order, which an early copy may lack. Nobody writes to a segment any more once folding
 * has started, so it is copied again. Undefined if it is gone by then: a newer snapshot has all of it.
 * @internal
 */
export function chooseSegments(
  early: readonly SegmentCopy[],
  { sequences }: Pick<Snapshot, "sequences">,
  copyAgain: () => readonly SegmentCopy[],
): SegmentCopy[] | undefined {
  const isStarted = ({ source, sequence }: SegmentCopy) => sequences.get(source) === sequence;
  const late = early.some(isStarted) ? copyAgain() : [];
  const chosen = early.map((one) =>
    isStarted(one)
      ? late.find(({ source, sequence }) => source === one.source && sequence === one.sequence)
      : one,
  );
  return chosen.every((one) => one !== undefined) ? chosen : undefined;
}

function copyInto(journalFolder: string, folder: string): SegmentCopy[] {
  makeFolder(folder);
  return copySegments(journalFolder, folder);
}

/** Replaces a folder of an earlier run. Deletes a link without following it. */
function makeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
}

/** Folds by sequence, because a store skips earlier sequences after later ones. @internal */
export async function foldInto(path: string, segments: readonly SegmentCopy[]): Promise<void> {
  if (segments.length === 0) return;
  const store = await openSqliteStore(path);
  const folding = startFolding(store);
  try {
    for (const segment of segments.toSorted((a, b) => a.sequence - b.sequence))
      await folding.fold(segment.path);
  } finally {
    folding.close();
    await store.close();
  }
}

function requireWhole(path: string): { links: number } {
  const report = checkFile(path);
  const [damage = "it is empty"] = report?.damage ?? [];
  if (report === undefined || report.damage.length > 0)
    throw new StoreUnusable(
      `The backup is damaged (${damage}), so it was deleted. Run curt check to see whether the store is.`,
    );
  return report;
}
