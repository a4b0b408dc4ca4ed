import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

import {
  type Capacity,
  makeSegmentFile,
  makeSegmentFileNow,
  openSegment,
  type Owner,
  type Segment,
  segmentBytes,
  UNFINISHED,
} from "./segment.ts";
import { type VisitStore, SegmentDamaged } from "./store.ts";

const USUAL: Capacity = { links: 8192, details: 32_768, nameBytes: 512 * 1024 };
/**
 * Follows one that filled up before its time: where many links are visited, a segment must be large to write each
 * of them to the store once for many visits.
 */
const BUSY: Capacity = { links: 131_072, details: 2_097_152, nameBytes: 16 * 1024 * 1024 };
/** Busy is over when no segment of so long would have filled a usual one. */
const CALM_MS = 600_000;
/** Of all segments. While the store is away they fill up; then detail is lost first, and counts last. */
const MAX_BYTES = 128 * 1024 * 1024;
/** How often the journal looks for visits to fold. */
const TICK_MS = 1000;
/** Folding takes at most this part of the time, but no visit waits longer than a minute for it. */
const FOLD_SHARE = 1 / 40;
const MAX_FOLD_PAUSE_MS = 60_000;
const ADOPT_EVERY_MS = 60_000;
const MAX_SLOTS = 1000;

/** Lower in tests, which would have to wait for them. */
export interface JournalLimits {
  readonly tickMs?: number;
}

export interface JournalOptions extends JournalLimits {
  /** For this service's journals alone; made when it is not there. */
  readonly folder: string;
  readonly store: VisitStore;
  /** Fills an array with bytes from a CSPRNG. */
  readonly fillRandom: (bytes: Uint8Array) => void;
  /** Monotonic. */
  readonly nowMs: () => number;
  /** Hours since 1970 (UTC). */
  readonly hour: () => number;
  readonly onFault: (error: unknown) => void;
  /** What only a power cut leaves behind: a segment that cannot be trusted, or read. */
  readonly onDropped: (path: string) => void;
}

export type Journal = Awaited<ReturnType<typeof openJournal>>;

/**
 * Visits on their way to the store. A process writes to one segment at a time; the full ones wait to be folded,
 * in order. The folder has a lock for each process, which ends with it: what a dead one left is folded by another.
 */
export async function openJournal(options: JournalOptions) {
  const { folder, store, nowMs, hour, onFault, onDropped, tickMs = TICK_MS } = options;
  mkdirSync(folder, { recursive: true });
  const { slot, lock } = takeSlot(folder);
  const owner: Owner = { journal: randomWords(options.fillRandom), boot: bootWords() };

  const spares: Segment[] = [];
  const waiting: Segment[] = leftBehind(slot);
  let sequence = 0;
  // Never the number of a file that is there: it may be mapped.
  let files = Math.max(0, ...waiting.map(({ path }) => numberOf(path)));
  let foldAtMs = 0;
  let adoptAtMs = 0;
  let hasteAgainMs = 0;
  let busyUntilMs = Number.NEGATIVE_INFINITY;
  let preparing: Promise<void> | undefined;
  let active = makeNow();
  active.begin(owner, ++sequence, hour());

  function wanted(): Capacity {
    return nowMs() < busyUntilMs ? BUSY : USUAL;
  }

  function newPath(): string {
    return join(folder, `${slot}-${++files}.visits`);
  }

  function makeNow(): Segment {
    const path = newPath();
    makeSegmentFileNow(path, USUAL);
    return openSegment(path);
  }

  function hasRoomFor(capacity: Capacity): boolean {
    const bytes = [...spares, ...waiting, active].map((segment) => segmentBytes(segment.capacity));
    return bytes.reduce((sum, one) => sum + one, segmentBytes(capacity)) <= MAX_BYTES;
  }

  /** Visits came faster than a spare could be made. */
  function makeInHaste(): Segment | undefined {
    if (nowMs() < hasteAgainMs || !hasRoomFor(USUAL)) return undefined;
    try {
      return makeNow();
    } catch (error) {
      hasteAgainMs = nowMs() + tickMs;
      onFault(error);
      return undefined;
    }
  }

  /** Goes on in a new segment; false when there is no room for one. */
  function rotate(newHour: number): boolean {
    if (active.outgrows(USUAL)) busyUntilMs = nowMs() + CALM_MS;
    const next = spares.shift() ?? makeInHaste();
    prepare();
    if (next === undefined) return false;
    if (active.isEmpty) spares.push(active);
    else waiting.push(active);
    active = next;
    active.begin(owner, ++sequence, newHour);
    return true;
  }

  /** What processes that are no more left in a slot, oldest first. The caller holds its lock. */
  function leftBehind(of: number): Segment[] {
    const names = readdirSync(folder).filter((name) => name.startsWith(`${of}-`));
    for (const name of names) if (name.endsWith(UNFINISHED)) rmSync(join(folder, name));
    const found = names
      .filter((name) => name.endsWith(".visits"))
      .flatMap((name) => openLeft(join(folder, name)));
    return found.toSorted((a, b) => a.journal.localeCompare(b.journal) || a.sequence - b.sequence);
  }

  function openLeft(path: string): Segment[] {
    try {
      const segment = openSegment(path);
      if (segment.sequence > 0 && segment.isTrusted(owner)) return [segment];
      if (segment.sequence > 0) onDropped(path);
      rmSync(path);
    } catch {
      putAside(path);
    }
    return [];
  }

  /** It cannot be read, now or ever; what it counted is lost. */
  function putAside(path: string): void {
    onDropped(path);
    if (existsSync(path)) renameSync(path, `${path}.damaged`);
  }

  /** A damaged segment does not keep the others from being folded. */
  async function fold({ path }: Segment): Promise<number> {
    try {
      return await store.fold(path);
    } catch (error) {
      if (!(error instanceof SegmentDamaged)) throw error;
      onFault(error);
      putAside(path);
      return 0;
    }
  }

  async function foldWaiting(): Promise<void> {
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      const workMs = await fold(first);
      waiting.shift();
      release(first);
      foldAtMs = nowMs() + Math.min(workMs / FOLD_SHARE, MAX_FOLD_PAUSE_MS);
    }
  }

  function release(segment: Segment): void {
    segment.free();
    const isOurs = segment.journal === active.journal && existsSync(segment.path);
    const isWanted =
      isOurs && spares.length === 0 && segmentBytes(segment.capacity) === segmentBytes(wanted());
    if (isWanted) spares.push(segment);
    else rmSync(segment.path, { force: true });
  }

  /** Has a spare segment made, if there is none. */
  function prepare(): void {
    if (spares.length > 0 || !hasRoomFor(wanted())) return;
    preparing ??= makeSpare()
      .catch(onFault)
      .finally(() => (preparing = undefined));
  }

  async function makeSpare(): Promise<void> {
    const path = newPath();
    await makeSegmentFile(path, wanted());
    spares.push(openSegment(path));
  }

  async function adopt(): Promise<void> {
    const slots = readdirSync(folder).flatMap((name) => /^(\d+)\.lock$/.exec(name)?.[1] ?? []);
    for (const other of slots.map(Number).filter((one) => one !== slot)) {
      const held = lockFile(join(folder, `${other}.lock`));
      if (held === undefined) continue;
      try {
        for (const segment of leftBehind(other)) {
          await fold(segment);
          rmSync(segment.path, { force: true });
        }
      } finally {
        held.close();
      }
    }
  }

  async function tick(): Promise<void> {
    const startMs = nowMs();
    // While the store is away, only full segments wait, and those of hours that are over.
    if (startMs >= foldAtMs && waiting.length === 0 && !active.isEmpty) rotate(hour());
    await foldWaiting();
    if (startMs >= adoptAtMs) {
      adoptAtMs = startMs + ADOPT_EVERY_MS;
      await adopt();
    }
    prepare();
  }

  let ticking: Promise<void> | undefined;
  const timer = setInterval(() => {
    ticking ??= tick()
      .catch(onFault)
      .finally(() => (ticking = undefined));
  }, tickMs);
  prepare();

  return {
    /** The segment to write to. */
    get active() {
      return active;
    },
    /** Goes on in a new segment because of the hour, or because the active one is full; false if it cannot. */
    next: rotate,
    /** Folds everything. What the store does not take now is kept for the next start. */
    async close(): Promise<void> {
      clearInterval(timer);
      await Promise.all([ticking, preparing]);
      if (!active.isEmpty) waiting.push(active);
      try {
        await foldWaiting();
      } catch (error) {
        onFault(error);
      }
      for (const segment of waiting.filter(({ path }) => existsSync(path))) segment.sync();
      for (const { path } of [...spares, active].filter((segment) => !waiting.includes(segment)))
        rmSync(path, { force: true });
      lock.close();
    },
  };
}

function numberOf(path: string): number {
  return Number(/-(\d+)\.visits$/.exec(path)?.[1]);
}

function takeSlot(folder: string): { slot: number; lock: Database } {
  for (let slot = 0; slot < MAX_SLOTS; slot++) {
    const lock = lockFile(join(folder, `${slot}.lock`));
    if (lock !== undefined) return { slot, lock };
  }
  throw new Error(`${MAX_SLOTS} processes use ${folder} already`);
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

function randomWords(fillRandom: (bytes: Uint8Array) => void): [number, number] {
  const bytes = new Uint8Array(8);
  fillRandom(bytes);
  const view = new DataView(bytes.buffer);
  return [view.getUint32(0), view.getUint32(4)];
}

/** Linux tells which start of the machine this is. */
function bootWords(): [number, number] {
  try {
    const id = readFileSync("/proc/sys/kernel/random/boot_id", "latin1");
    return [Number.parseInt(id.slice(0, 8), 16), Number.parseInt(id.slice(24, 32), 16)];
  } catch {
    return [0, 0];
  }
}
