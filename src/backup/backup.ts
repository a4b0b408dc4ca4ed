import { closeSync, openSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";

// One file with everything: the store as it was at one moment, and the visits that were still on their way to it.
import { createFolder } from "../lib/files.ts";
import { giveToOwnerOfFolder } from "../lib/files.ts";
import { StoreUnusable } from "../links/store.ts";
import { checkFile } from "../store/sqlite/file/file.ts";
import { checkpoint, leaveWal, openSnapshot, type Snapshot } from "../store/sqlite/file/snapshot.ts";
import { openSqliteStore } from "../store/sqlite/store.ts";
import { startFolding } from "../visits/journal/folding.ts";
import { type SegmentCopy, copySegments } from "../visits/journal/segment-copy.ts";
import { lockFile } from "../visits/journal/slots.ts";
import { createPartFile, type Progress } from "./new-file.ts";

/** Folding a segment takes some milliseconds; of a busy one, a second. */
const MAX_TRIES = 100;
const TRY_AGAIN_MS = 100;

export interface BackupOptions {
  /** Of the store. */
  readonly path: string;
  readonly journalFolder: string;
  /** Of the backup. */
  readonly file: string;
  readonly progress: Progress;
}

/**
 * Makes a backup while others serve the store. Everything that was answered before this was called is in it. Resolves with
 * how many links it has. Throws {@link StoreUnusable}.
 */
export async function createBackup({ path, journalFolder, file, progress }: BackupOptions): Promise<number> {
  createFolder(journalFolder);
  using lock = lockBackups(journalFolder);
  if (lock === undefined) throw new StoreUnusable(`Another backup of ${path} is being made. Wait for it.`);
  using part = createPartFile(file);
  const folder = `${part.path}-visits`;
  using _ = { [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
  const { snapshot, segments } = await begin(path, journalFolder, folder);
  try {
    await snapshot.copy(part.path, progress.copied);
  } finally {
    snapshot.close();
  }
  checkpoint(path);
  await foldInto(part.path, segments);
  leaveWal(part.path);
  progress.checking();
  const { links } = requireWhole(part.path);
  part.name();
  return links;
}

/**
 * Two at once would hold up the log of the store twice. Undefined while somebody makes one. `schedule` is held by the server that
 * starts one, from its decision to the end.
 */
export function lockBackups(
  journalFolder: string,
  name: "backup" | "schedule" = "backup",
): Disposable | undefined {
  const path = join(journalFolder, `${name}.lock`);
  // A backup that root makes must not keep Curt's own user from making one. Before it is locked, because a process that closes a
  // file loses all its locks of it.
  closeSync(openSync(path, "a"));
  giveToOwnerOfFolder(path);
  return lockFile(path);
}

/**
 * Segments are copied before the snapshot is taken, so a visit is in one of them or in the snapshot, or in both: the store
 * knows how far it has added each segment, and adds no row of it twice.
 */
async function begin(path: string, journalFolder: string, folder: string) {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const early = saveIn(journalFolder, join(folder, "early"));
    const snapshot = openSnapshot(path);
    try {
      const segments = chooseSegments(early, snapshot, () => saveIn(journalFolder, join(folder, "late")));
      if (segments !== undefined) return { snapshot, segments };
    } catch (error) {
      snapshot.close();
      throw error;
    }
    snapshot.close();
    await Bun.sleep(TRY_AGAIN_MS);
  }
  throw new StoreUnusable(`The visits in ${journalFolder} change faster than they can be copied. Try again.`);
}

/**
 * The segments to add to a snapshot that was taken after they were copied. The rows that it may have of one are counted in
 * their last order, so a copy that was made while the segment was written to does not do. Once folding has begun, nobody
 * writes to the segment any more, so it is copied again. Undefined where it is gone by then: a newer snapshot has all of it.
 */
export function chooseSegments(
  early: readonly SegmentCopy[],
  { sequences }: Pick<Snapshot, "sequences">,
  saveAgain: () => readonly SegmentCopy[],
): SegmentCopy[] | undefined {
  const hasBegun = ({ source, sequence }: SegmentCopy) => sequences.get(source) === sequence;
  const late = early.some(hasBegun) ? saveAgain() : [];
  const chosen = early.map((one) =>
    hasBegun(one)
      ? late.find(({ source, sequence }) => source === one.source && sequence === one.sequence)
      : one,
  );
  return chosen.every((one) => one !== undefined) ? chosen : undefined;
}

function saveIn(journalFolder: string, folder: string): SegmentCopy[] {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return copySegments(journalFolder, folder);
}

/** In the order of their sequences: a store does not take an earlier one after a later one. */
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
