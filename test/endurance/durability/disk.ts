// Simulates names and writes at an offset (pwrite), which SQLite uses for stores and backups. Leaves out `write` and mapped files:
// the journal of visits is written through a map, which no system call shows.
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import type { SystemCall } from "./syscalls.ts";

const PAGE_BYTES = 4096;

type Change = SystemCall & { readonly call: "write" | "truncate" };

/** The contents of a file. */
interface Image {
  bytes: Buffer;
  size: number;
}

interface SimulatedFile {
  /** The contents that the program sees, except for `waiting`. */
  readonly cache: Image;
  readonly disk: Image;
  /** Pages of the cache that the disk may lack. */
  readonly dirty: Set<number>;
  waiting: readonly Change[];
}

/**
 * A disk that takes the calls of a traced program and may lose its power at any time. A finished sync puts a file or the names in a
 * folder on it. A failed one drops what it covers, as Linux does: the cache keeps it, but only a page that is written again still
 * reaches the disk.
 */
export function createDisk() {
  /** Files by path: those that the program sees, and those that exist after a power cut. */
  const seen = new Map<string, SimulatedFile>();
  const found = new Map<string, SimulatedFile>();
  let unsyncedNames: { at: number; path: string; file: SimulatedFile | undefined }[] = [];
  /** Numbers the calls of all runs in order. */
  let [first, last] = [0, -1];

  function create(at: number, path: string): void {
    if (seen.has(path)) return;
    name(at, path, { cache: emptyImage(), disk: emptyImage(), dirty: new Set<number>(), waiting: [] });
  }

  /** Gives the name to this file, or to none. */
  function name(at: number, path: string, file: SimulatedFile | undefined): void {
    if (file === undefined) seen.delete(path);
    else seen.set(path, file);
    unsyncedNames.push({ at, path, file });
  }

  function sync(path: string, startedAt: number, hasFailed: boolean): void {
    const isCovered = ({ at }: { at: number }) => at < startedAt;
    const names = unsyncedNames.filter((one) => isCovered(one) && dirname(one.path) === path);
    if (!hasFailed) {
      unsyncedNames = unsyncedNames.filter((one) => !names.includes(one));
      for (const one of names) {
        if (one.file === undefined) found.delete(one.path);
        else found.set(one.path, one.file);
      }
    }
    const file = seen.get(path);
    if (file === undefined) return;
    for (const change of file.waiting.filter(isCovered)) apply(file, change);
    file.waiting = file.waiting.filter((change) => !isCovered(change));
    if (!hasFailed) {
      for (const page of file.dirty) copyPage(page, file.cache, file.disk);
      resize(file.disk, file.cache.size);
    }
    file.dirty.clear();
  }

  return {
    take(taken: SystemCall): void {
      const call = { ...taken, at: first + taken.at };
      last = call.at;
      switch (call.call) {
        case "create":
          return create(call.at, call.file);
        case "remove":
          return name(call.at, call.file, undefined);
        case "rename":
        case "link":
          name(call.at, call.file, seen.get(call.from));
          if (call.call === "rename") name(call.at, call.from, undefined);
          return;
        case "write":
        case "truncate": {
          const file = seen.get(call.file);
          if (file !== undefined) file.waiting = [...file.waiting, call];
          return;
        }
        case "sync":
          return sync(call.file, first + call.startedAt, call.hasFailed === true);
        case "answer":
        case "log":
      }
    },
    /** The next call is the first one of another run, over the same files. */
    startRun(): void {
      first = last + 1;
    },
    /** Writes the store or the backup at `path` into `folder` as a power cut leaves it. Unsynced pages are there if `keepsPage` says so. */
    cutPower(path: string, folder: string, keepsPage = () => false): void {
      mkdirSync(folder, { recursive: true });
      for (const part of ["", "-wal", "-shm", "-journal"]) {
        const file = found.get(path + part);
        if (file === undefined) continue;
        const { bytes, size } = afterPowerCut(file, keepsPage);
        writeFileSync(join(folder, basename(path) + part), bytes.subarray(0, size));
      }
    },
  };
}

function afterPowerCut({ cache, disk, dirty, waiting }: SimulatedFile, keepsPage: () => boolean): Image {
  const copy = { cache: copyOf(cache), disk: copyOf(disk), dirty: new Set(dirty), waiting: [] };
  for (const change of waiting) apply(copy, change);
  for (const page of copy.dirty) if (keepsPage()) copyPage(page, copy.cache, copy.disk);
  return copy.disk;
}

function apply({ cache, dirty }: SimulatedFile, change: Change): void {
  if (change.call === "truncate") {
    resize(cache, change.bytes);
    for (const page of dirty) if (page * PAGE_BYTES >= change.bytes) dirty.delete(page);
    return;
  }
  const data = Buffer.from(change.data, "base64");
  const end = change.offset + data.length;
  resize(cache, Math.max(cache.size, end));
  data.copy(cache.bytes, change.offset);
  for (let page = Math.floor(change.offset / PAGE_BYTES); page * PAGE_BYTES < end; page++) dirty.add(page);
}

function copyPage(page: number, from: Image, to: Image): void {
  const start = page * PAGE_BYTES;
  const end = Math.min(start + PAGE_BYTES, from.size);
  if (end <= start) return;
  resize(to, Math.max(to.size, end));
  from.bytes.copy(to.bytes, start, start, end);
}

function emptyImage(): Image {
  return { bytes: Buffer.alloc(0), size: 0 };
}

function copyOf({ bytes, size }: Image): Image {
  return { bytes: Buffer.from(bytes), size };
}

/** Bytes beyond the size are zero. */
function resize(image: Image, size: number): void {
  if (size > image.bytes.length)
    image.bytes = Buffer.concat([image.bytes], Math.max(size, 2 * image.bytes.length));
  image.bytes.fill(0, Math.min(size, image.size), image.size);
  image.size = size;
}
