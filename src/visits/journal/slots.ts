import { constants, Database } from "bun:sqlite";
import { existsSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { reasonOf } from "../../lib/error-reason.ts";
import { StoreUnusable } from "../../links/link-store.ts";
import { isTransient, setAside, UNFINISHED } from "./segment-file.ts";
import { openSegment, type Owner, type Segment } from "./segment.ts";

const MAX_SLOTS = 1000;

export interface SlotOptions {
  readonly folder: string;
  readonly owner: Owner;
  readonly onFault: (error: unknown) => void;
  /** Called for each segment whose visits are lost. */
  readonly onDropped: (path: string) => void;
}

/** A number that only one running process holds at a time. The names of its segments start with the number. */
export interface Slot {
  readonly number: number;
  /** Segments of earlier processes with this slot, oldest first. */
  readonly abandoned: Segment[];
  /** False after the lock file was deleted, moved or replaced, so that another process can take the slot. */
  isHeld(): boolean;
  free(): void;
}

/**
 * Takes the first free slot. Skips slots whose segments cannot be read now, but maybe by a later process. A process that
 * has lost a slot takes the same one if it can, because its segments may still be there.
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

/** Whether the journal has visits that aren't in the store, or a process uses it. */
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
    return { number, abandoned: openAbandoned(number, options), isHeld, free: () => lock.close() };
  } catch (error) {
    lock.close();
    options.onFault(error);
    return undefined;
  }
}

/**
 * Takes a lock that is released even if the process is killed, as SQLite's lock is on every platform. Undefined if
 * another process has it. Throws {@link StoreUnusable} for any other reason.
 */
export function lockFile(path: string): Database | undefined {
  // NOFOLLOW also refuses symbolic links among the folders of a path, so resolve those first.
  const resolved = join(realpathSync(dirname(path)), basename(path));
  const { SQLITE_OPEN_CREATE, SQLITE_OPEN_READWRITE, SQLITE_OPEN_NOFOLLOW } = constants;
  const database = new Database(resolved, SQLITE_OPEN_CREATE | SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW);
  try {
    database.run("PRAGMA busy_timeout = 0");
    // A rollback journal would need disk space.
    database.run("PRAGMA journal_mode = MEMORY");
    database.run("BEGIN EXCLUSIVE");
    return database;
  } catch (cause) {
    database.close();
    if ((cause as { code?: string }).code?.startsWith("SQLITE_BUSY") === true) return undefined;
    throw new StoreUnusable(`${path} cannot be locked: ${reasonOf(cause)}`, { cause });
  }
}

function openAbandoned(slot: number, options: SlotOptions): Segment[] {
  const { folder } = options;
  const names = readdirSync(folder).filter((name) => name.startsWith(`${slot}-`));
  for (const name of names) if (name.endsWith(UNFINISHED)) rmSync(join(folder, name));
  const segments = names
    .filter((name) => name.endsWith(".visits"))
    .flatMap((name) => openTrusted(join(folder, name), options) ?? []);
  return segments.toSorted((a, b) => a.source.localeCompare(b.source) || a.sequence - b.sequence);
}

/** Undefined if the file has no countable visits. Throws if it cannot be read now. */
function openTrusted(path: string, { owner, onDropped }: SlotOptions): Segment | undefined {
  try {
    const segment = openSegment(path);
    // A process whose lock file is gone takes another slot, but still writes to these segments.
    if (segment.isOf(owner)) return undefined;
    if (segment.sequence > 0 && segment.isTrusted(owner)) return segment;
    if (segment.sequence === 0) {
      rmSync(path);
    } else {
      onDropped(path);
      setAside(path);
    }
  } catch (error) {
    if (isTransient(error)) throw error;
    onDropped(path);
    setAside(path);
  }
  return undefined;
}
