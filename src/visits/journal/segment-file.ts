import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";

import { type Capacity, headOf, segmentBytes } from "./layout.ts";

const CHUNK_BYTES = 1024 * 1024;
/** Behind the name of a file that is being made. */
export const UNFINISHED = ".new";

/**
 * Makes a free segment. It is written full of zeros instead of left a hole, so that a full disk is reported here and not
 * by SIGBUS at some later visit. The file gets its name once it is complete.
 */
export async function makeSegmentFile(path: string, capacity: Capacity): Promise<void> {
  const file = await open(`${path}${UNFINISHED}`, "w");
  try {
    const head = headOf(capacity);
    await file.writeFile(head);
    const chunk = new Uint8Array(CHUNK_BYTES);
    for (let rest = segmentBytes(capacity) - head.length; rest > 0; rest -= chunk.length)
      await file.writeFile(chunk.subarray(0, rest));
    await rename(`${path}${UNFINISHED}`, path);
  } catch (error) {
    await rm(`${path}${UNFINISHED}`, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/** Does the same at once, for a small segment: the thread stands still for a moment. */
export function makeSegmentFileNow(path: string, capacity: Capacity): void {
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

/** For a file that cannot be read, now or ever: what it counted is lost, and somebody may want to look at it. */
export function putAside(path: string): void {
  if (existsSync(path)) renameSync(path, `${path}.damaged`);
}

/** What is in a segment cannot be counted, now or ever. */
export class SegmentDamaged extends Error {
  override readonly name = "SegmentDamaged";
}

/** The system's trouble (no permission, no descriptor left, an unreadable disk) may be over soon; a missing file stays so. */
export function isPassing(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === "string" && code !== "ENOENT";
}
