import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

import { rewriteFile, syncFolder, writeAll } from "../../lib/files.ts";
import { type Capacity, Head, HEAD_WORDS, headOf, segmentBytes } from "./segment-layout.ts";

const CHUNK_BYTES = 1024 * 1024;
/** The suffix of files that are still being written. */
export const UNFINISHED = ".new";

/**
 * Creates a free segment. It is filled with zeros instead of being sparse, so that a full disk is an error here, not a
 * SIGBUS at a later visit. The file is renamed to `path` once it is complete.
 */
export function createSegmentFile(path: string, capacity: Capacity): Promise<void> {
  return createFile(path, async (file) => {
    const head = headOf(capacity);
    await file.writeFile(head);
    const chunk = new Uint8Array(CHUNK_BYTES);
    for (let rest = segmentBytes(capacity) - head.length; rest > 0; rest -= chunk.length)
      await file.writeFile(chunk.subarray(0, rest));
  });
}

/** Writes a segment whose file was deleted. The new file isn't synced. */
export function restoreSegmentFile(path: string, bytes: Uint8Array): Promise<void> {
  const head = new Uint32Array(bytes.slice(0, 4 * HEAD_WORDS).buffer);
  head[Head.synced] = 0;
  return createFile(path, async (file) => {
    await file.writeFile(new Uint8Array(head.buffer));
    await file.writeFile(bytes.subarray(4 * HEAD_WORDS));
  });
}

/**
 * Puts a segment on disk that nobody writes to any more. It is marked only once everything else is there, because the mark may
 * reach the disk before other pages.
 */
export function syncSegment(path: string): void {
  rewriteFile(path);
  const descriptor = openSync(path, "r+");
  try {
    writeAll(descriptor, new Uint8Array(new Uint32Array([1]).buffer), 4 * Head.synced);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  syncFolder(dirname(path));
}

async function createFile(path: string, write: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(`${path}${UNFINISHED}`, "w");
  try {
    await write(file);
    await rename(`${path}${UNFINISHED}`, path);
  } catch (error) {
    await rm(`${path}${UNFINISHED}`, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/** Like {@link createSegmentFile}, but blocks the thread. */
export function createSegmentFileSync(path: string, capacity: Capacity): void {
  const bytes = new Uint8Array(segmentBytes(capacity));
  bytes.set(headOf(capacity));
  try {
    writeFileSync(`${path}${UNFINISHED}`, bytes);
    renameSync(`${path}${UNFINISHED}`, path);
  } catch (error) {
    rmSync(`${path}${UNFINISHED}`, { force: true });
    throw error;
  }
}

/** Renames a file that can't be counted. Its visits are lost, but the operator may want to see it. */
export function setAside(path: string): void {
  if (existsSync(path)) renameSync(path, `${path}.damaged`);
}

/** A segment can never be read. Retries don't help. */
export class SegmentDamaged extends Error {
  override readonly name = "SegmentDamaged";
}

/**
 * Whether a retry may help. It may for errors of the system (permissions, open files, disk), but a missing file is lost.
 */
export function isTransient(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === "string" && code !== "ENOENT";
}
