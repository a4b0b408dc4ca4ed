// Examines how the disk below a folder stores data.
import { randomBytes } from "node:crypto";
import {
  closeSync,
  fdatasyncSync,
  openSync,
  readFileSync,
  realpathSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { join, sep } from "node:path";

const COMMIT_BYTES = 4096;
const COMMITS = 20;
const LARGE_BYTES = 16 * 1024 * 1024;
const LARGE_WRITES = 3;
/** 16 GB/s: faster than any disk, but slow for memory. */
const FASTEST_LARGE_MS = 1;

export interface Disk {
  /** Such as "ext4"; undefined if the system doesn't say. */
  readonly fileSystem: string | undefined;
  /** The median time in which the disk stores 4 KiB, as after a create. */
  readonly commitMs: number;
  /** The shortest time in which it stores 16 MiB. */
  readonly largeMs: number;
  /** Whether data reaches a disk at all before the system says so. A disk with a volatile cache can still lie. */
  readonly isSyncing: boolean;
}

/** Measures in a file of its own, which it deletes. Throws the system's errors. */
export function examineDisk(folder: string): Disk {
  const path = join(folder, "sync-test");
  const file = openSync(path, "wx");
  const fileSystem = fileSystemOf(folder);
  /** Random bytes, because some disks compress. */
  function syncMs(bytes: number): number {
    const writer = fileSystem?.startsWith("fuse") === true ? openSync(path, "r+") : file;
    writeSync(writer, randomBytes(bytes), 0, bytes, 0);
    // FUSE passes cached data to its program when a file is closed. That takes time, even if the program then ignores the sync.
    if (writer !== file) closeSync(writer);
    const startedMs = performance.now();
    fdatasyncSync(file);
    return performance.now() - startedMs;
  }
  try {
    const commits = Array.from({ length: COMMITS }, () => syncMs(COMMIT_BYTES));
    const commitMs = commits.toSorted((one, other) => one - other)[COMMITS / 2] ?? 0;
    const largeMs = Math.min(...Array.from({ length: LARGE_WRITES }, () => syncMs(LARGE_BYTES)));
    return { fileSystem, commitMs, largeMs, isSyncing: largeMs >= FASTEST_LARGE_MS };
  } finally {
    closeSync(file);
    unlinkSync(path);
  }
}

/** By the mount with the longest path above the folder, as in proc_pid_mountinfo(5). The last of several at one place counts. */
function fileSystemOf(folder: string): string | undefined {
  const place = realpathSync(folder);
  let longest = "";
  let found: string | undefined;
  for (const line of readMounts()) {
    const [before = "", after = ""] = line.split(" - ");
    const point = (before.split(" ")[4] ?? "").replaceAll(/\\(\d{3})/g, (_, octal: string) =>
      String.fromCharCode(Number.parseInt(octal, 8)),
    );
    const isAbove = place === point || place.startsWith(point.endsWith(sep) ? point : `${point}${sep}`);
    if (!isAbove || point.length < longest.length) continue;
    longest = point;
    [found] = after.split(" ");
  }
  return found;
}

function readMounts(): string[] {
  try {
    return readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  } catch {
    // Only Linux has it.
    return [];
  }
}
