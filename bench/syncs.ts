import { closeSync, fsyncSync, openSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";

/** A page and its frame header: what SQLite's write-ahead log grows by for a small change. */
const FRAME = new Uint8Array(4096 + 24);
/** SQLite begins its log anew after about this many frames. */
const FRAMES = 1000;

/** How many small writes, each synced before the next, this disk takes per second: the bound of lone creates. */
export function syncsPerSecond(folder: string, durationMs: number): number {
  const path = join(folder, "syncs");
  const file = openSync(path, "w");
  const startMs = performance.now();
  let elapsedMs = 0;
  let syncs = 0;
  while (elapsedMs < durationMs) {
    writeSync(file, FRAME, 0, FRAME.length, (syncs % FRAMES) * FRAME.length);
    fsyncSync(file);
    syncs++;
    elapsedMs = performance.now() - startMs;
  }
  closeSync(file);
  unlinkSync(path);
  return (syncs / elapsedMs) * 1000;
}
