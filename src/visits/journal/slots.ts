import { Database } from "bun:sqlite";
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

import { reasonOf } from "../../lib/error-reason.ts";
import { StoreUnusable } from "../../links/store.ts";
import { isPassing, setAside, UNFINISHED } from "./segment-file.ts";
import { openSegment, type Owner, type Segment } from "./segment.ts";

const MAX_SLOTS = 1000;

export interface SlotOptions {
  readonly folder: string;
  readonly owner: Owner;
  readonly onFault: (error: unknown) => void;
  /** Called for each segment whose visits are lost. */
  readonly onDropped: (path: string) => void;
}

/** A number that only one running process holds at a time. The names of its segments begin with the number. */
export interface Slot {
  readonly number: number;
  /** Segments that earlier processes with this slot have left behind, oldest first. */
  readonly left: Segment[];
  /** False after the file of its lock was deleted, moved or replaced: another process can then take the slot. */
  isHeld(): boolean;
  free(): void;
}

/**
 * Takes the first free slot. Skips slots whose segments cannot be read now; a later process may be able to. A process
 * that has lost a slot takes the same one if it can, because its segments may still be there.
 */
export function takeSlot(options: SlotOptions, lost?: Slot): Slot {
  const again = lost && lockSlot(lost.number, options);
  if (again !== undefined) return again;
  for (let number = 0; number < MAX_SLOTS; number++) {
    const slot = lockSlot(number, options);
    if (slot !== undefined) return slot;
  }
  throw new Error(`${MAX_SLOTS} processes use ${options.folder} already`);
}

/** Yields the slots of processes that have ended. Each is held until the next one is requested. */
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

/** Whether there are visits on their way to the store, or a process counts some. */
export function hasSegments(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).some((name) => name.endsWith(".visits"));
}

function lockSlot(number: number, options: SlotOptions): Slot | undefined {
  const path = join(options.folder, `${number}.lock`);
  const lock = lockFile(path);
  if (lock === undefined) return undefined;
  try {
    const { ino } = statSync(path);
    const isHeld = () => statSync(path, { throwIfNoEntry: false })?.ino === ino;
    return { number, left: openLeft(number, options), isHeld, free: () => lock.close() };
  } catch (error) {
    lock.close();
    options.onFault(error);
    return undefined;
  }
}

/**
 * A lock that is released even if the process is killed. SQLite's lock does this on every platform. Undefined if it is held.
 * Throws {@link StoreUnusable} if it can't be taken for another reason.
 */
export function lockFile(path: string): Database | undefined {
  const database = new Database(path, { create: true, readwrite: true });
  try {
    database.run("PRAGMA busy_timeout = 0");
    // A rollback journal on the disk would need room there.
    database.run("PRAGMA journal_mode = MEMORY");
    database.run("BEGIN EXCLUSIVE");
    return database;
  } catch (cause) {
    database.close();
    if ((cause as { code?: string }).code?.startsWith("SQLITE_BUSY") === true) return undefined;
    throw new StoreUnusable(`${path} cannot be locked: ${reasonOf(cause)}`, { cause });
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

/** Undefined if the file has nothing that can be counted. Throws if it cannot be read now. */
function openTrusted(path: string, { owner, onDropped }: SlotOptions): Segment | undefined {
  try {
    const segment = openSegment(path);
    // Whoever takes another slot because the lock is gone still writes to its segments.
    if (segment.isOf(owner)) return undefined;
    if (segment.sequence > 0 && segment.isTrusted(owner)) return segment;
    if (segment.sequence > 0) onDropped(path);
    rmSync(path);
  } catch (error) {
    if (isPassing(error)) throw error;
    onDropped(path);
    setAside(path);
  }
  return undefined;
}
