import { Database } from "bun:sqlite";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { isPassing, putAside, UNFINISHED } from "./segment-file.ts";
import { openSegment, type Owner, type Segment } from "./segment.ts";

const MAX_SLOTS = 1000;

export interface SlotOptions {
  readonly folder: string;
  readonly owner: Owner;
  readonly onFault: (error: unknown) => void;
  /** For each segment that will never be counted. */
  readonly onDropped: (path: string) => void;
}

/** A number that one living process has to itself: the names of its segments begin with it. */
export interface Slot {
  readonly number: number;
  /** The segments of processes that had it before and are no more, oldest first. */
  readonly left: Segment[];
  free(): void;
}

/** The first slot that is free. One whose segments cannot be read now is left to a later process. */
export function takeSlot(options: SlotOptions): Slot {
  for (let number = 0; number < MAX_SLOTS; number++) {
    const slot = lockSlot(number, options);
    if (slot !== undefined) return slot;
  }
  throw new Error(`${MAX_SLOTS} processes use ${options.folder} already`);
}

/** The slots of processes that are no more, each taken until the next is asked for. */
export function* abandonedSlots(own: Slot, options: SlotOptions): Generator<Slot> {
  const numbers = readdirSync(options.folder).flatMap((name) => /^(\d+)\.lock$/.exec(name)?.[1] ?? []);
  for (const number of numbers.map(Number).filter((one) => one !== own.number)) {
    const slot = lockSlot(number, options);
    if (slot === undefined) continue;
    try {
      yield slot;
    } finally {
      slot.free();
    }
  }
}

function lockSlot(number: number, options: SlotOptions): Slot | undefined {
  const lock = lockFile(join(options.folder, `${number}.lock`));
  if (lock === undefined) return undefined;
  try {
    return { number, left: openLeft(number, options), free: () => lock.close() };
  } catch (error) {
    lock.close();
    options.onFault(error);
    return undefined;
  }
}

/** A lock that ends with the process, however it ends: SQLite has a portable one. */
function lockFile(path: string): Database | undefined {
  const database = new Database(path, { create: true, readwrite: true });
  try {
    database.run("PRAGMA busy_timeout = 0");
    database.run("BEGIN EXCLUSIVE");
    return database;
  } catch {
    database.close();
    return undefined;
  }
}

function openLeft(slot: number, options: SlotOptions): Segment[] {
  const { folder } = options;
  const names = readdirSync(folder).filter((name) => name.startsWith(`${slot}-`));
  for (const name of names) if (name.endsWith(UNFINISHED)) rmSync(join(folder, name));
  const found = names
    .filter((name) => name.endsWith(".visits"))
    .flatMap((name) => openTrusted(join(folder, name), options) ?? []);
  return found.toSorted((a, b) => a.source.localeCompare(b.source) || a.sequence - b.sequence);
}

/** Undefined where the file has nothing to count. Throws where it cannot be told now. */
function openTrusted(path: string, { owner, onDropped }: SlotOptions): Segment | undefined {
  try {
    const segment = openSegment(path);
    if (segment.sequence > 0 && segment.isTrusted(owner)) return segment;
    if (segment.sequence > 0) onDropped(path);
    rmSync(path);
  } catch (error) {
    if (isPassing(error)) throw error;
    onDropped(path);
    putAside(path);
  }
  return undefined;
}
