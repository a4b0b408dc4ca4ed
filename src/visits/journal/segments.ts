import { rmSync } from "node:fs";
import { join } from "node:path";

import { isDiskFull, reasonOf } from "../../lib/error-reason.ts";
import { createSegmentFile, createSegmentFileSync, restoreSegmentFile } from "./segment-file.ts";
import { type Capacity, segmentBytes } from "./segment-layout.ts";
import { openSegment, type Owner, type Segment } from "./segment.ts";
import type { Slot } from "./slots.ts";

/** With many visits, a segment collects enough of them for each link that the store is seldom updated. */
export const CAPACITY: Capacity = { links: 65_536, details: 262_144, nameBytes: 3 * 1024 * 1024 };
/** So many are ready before the active one is full. */
const SPARES = 2;
/**
 * Limits all segments of a process together. While the store is unavailable, they fill up. Then details are lost first,
 * and later the visits of links that aren't in a segment yet.
 */
export const MAX_BYTES = 128 * 1024 * 1024;
const MAX_SEGMENTS = Math.floor(MAX_BYTES / segmentBytes(CAPACITY));
/** The pause after `createEmergency` has failed. */
const EMERGENCY_PAUSE_MS = 1000;

/** Visits that are not in the store yet. */
export interface JournalFigures {
  readonly visits: number;
  /** Segments that wait to be folded. */
  readonly segments: number;
  /** False while visits can't be counted, for example because the disk is full. */
  readonly isCounting: boolean;
}

export interface SegmentsOptions {
  readonly folder: string;
  readonly slot: Slot;
  readonly owner: Owner;
  /** Monotonic. */
  readonly nowMs: () => number;
  /** The hour of the first segment, in hours since 1970 (UTC). */
  readonly hour: number;
  readonly onFault: (error: unknown) => void;
  /** Called with the reason when visits can't be counted, and with undefined when they can again. */
  readonly onTrouble?: (reason: string | undefined) => void;
}

/*
 * The states of a segment, and the functions that change them:
 *
 *   prepare       createFirst, next (no spare)       takeOver
 *      v               v                                v
 *   +-------+ next +--------+ next (not empty), end +---------+ releaseFirst
 *   | spare |----->| active |---------------------->| waiting |------------> deleted
 *   +-------+      +--------+                       +---------+
 *    ^     ^           |                                 |
 *    |     +-----------+ next (empty)                    |
 *    +---------------------------------------------------+ releaseFirst (fewer than two spares)
 *
 * A damaged file ends an active segment and deletes a spare one. `restore` writes a waiting one again if its file is gone.
 * `close` deletes all but the waiting ones, which the next process takes over.
 */

/**
 * The segments of one process. Visits are written to the active one. There are spare ones, and closed ones that wait to be
 * folded into the store.
 */
export function createSegments(options: SegmentsOptions) {
  const { folder, owner, nowMs, hour, onFault, onTrouble } = options;
  const spares: Segment[] = [];
  const waiting: Segment[] = [];
  let { slot } = options;
  let sequence = 0;
  // File names are never reused, because an old file may still be mapped into memory.
  let files = 0;
  let hasEnded = false;
  let emergencyAfterMs = 0;
  let preparing: Promise<void> | undefined;
  /** Why visits can't be counted. */
  let trouble: string | undefined;
  takeOver(slot);
  /** Undefined if the disk was full at the start. */
  let active = createFirst();

  function newPath(): string {
    // Another process that has the slot now would take the file for an abandoned one.
    if (!slot.isHeld()) throw new Error(`${folder} is no longer the journal of this process`);
    return join(folder, `${slot.number}-${++files}.visits`);
  }

  function takeOver(newSlot: Slot): void {
    slot = newSlot;
    emergencyAfterMs = 0;
    waiting.push(...slot.abandoned);
    files = Math.max(files, ...slot.abandoned.map(({ path }) => numberOf(path)));
  }

  function createSync(): Segment {
    const path = newPath();
    createSegmentFileSync(path, CAPACITY);
    return openSegment(path);
  }

  /** Links redirect even if no visit can be counted. */
  function createFirst(): Segment | undefined {
    try {
      const first = createSync();
      first.start(owner, ++sequence, hour);
      return first;
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      setTrouble(reasonOf(error));
      return undefined;
    }
  }

  function setTrouble(reason: string | undefined): void {
    if (reason !== trouble) onTrouble?.(reason);
    trouble = reason;
  }

  function hasRoom(): boolean {
    const segments = [...spares, ...waiting, active, preparing].filter((one) => one !== undefined);
    return segments.length < MAX_SEGMENTS;
  }

  /** Creates a segment when the active one is full before a spare one is ready. Blocks the thread. */
  function createEmergency(): Segment | undefined {
    if (nowMs() < emergencyAfterMs) return undefined;
    if (!hasRoom()) {
      setTrouble("the store has been away for too long");
      return undefined;
    }
    try {
      return createSync();
    } catch (error) {
      emergencyAfterMs = nowMs() + EMERGENCY_PAUSE_MS;
      setTrouble(reasonOf(error));
      fail(error);
      return undefined;
    }
  }

  /** A full disk that prevents counting was reported already. */
  function fail(error: unknown): void {
    if (trouble === undefined || !isDiskFull(error)) onFault(error);
  }

  /** Starts creating a spare segment unless there are enough. */
  function prepare(): void {
    if (preparing !== undefined || spares.length >= SPARES || !hasRoom()) return;
    preparing = createSpare()
      .catch(fail)
      .finally(() => {
        preparing = undefined;
      });
  }

  async function createSpare(): Promise<void> {
    const path = newPath();
    await createSegmentFile(path, CAPACITY);
    addSpare(openSegment(path));
  }

  function addSpare(segment: Segment): void {
    spares.push(segment);
    setTrouble(undefined);
  }

  function next(newHour: number): boolean {
    dropLostSpares();
    const following = spares.shift() ?? createEmergency();
    if (following === undefined) return false;
    setTrouble(undefined);
    if (active !== undefined) (active.isEmpty ? spares : waiting).push(active);
    active = following;
    active.start(owner, ++sequence, newHour);
    // With few visits, the last segment is folded and reused before this one is full.
    if (spares.length === 0) prepare();
    return true;
  }

  function dropLostSpares(): void {
    for (const spare of spares.filter(({ file }) => file !== "whole")) {
      spares.splice(spares.indexOf(spare), 1);
      remove(spare);
    }
  }

  async function save(segment: Segment): Promise<Segment> {
    const path = newPath();
    await restoreSegmentFile(path, segment.bytes);
    return openSegment(path);
  }

  prepare();

  return {
    get active() {
      return active;
    },
    /** Oldest first. */
    waiting: waiting as readonly Segment[],
    figures(): JournalFigures {
      const full = waiting.filter((segment) => segment !== active);
      const visits = full.reduce((sum, segment) => sum + segment.visits, active?.visits ?? 0);
      return { visits, segments: full.length, isCounting: trouble === undefined };
    },
    prepare,

    /** Makes another segment the active one. Returns false if there is no room for one. */
    next,
    /** Continues in another slot, and takes its abandoned segments. */
    takeOver,
    /** Writes visits of deleted files, which are only in memory, to new files. */
    async restore(): Promise<void> {
      if (!hasEnded && active !== undefined && active.file !== "whole") next(active.hour);
      dropLostSpares();
      for (const gone of waiting.filter(({ file }) => file === "gone")) {
        const saved = await save(gone);
        const at = waiting.indexOf(gone);
        // It may have been folded meanwhile.
        if (at < 0) remove(saved);
        else waiting[at] = saved;
      }
    },
    /** Call this when a file may have been cut short: the next visit must not touch it. */
    leaveCut(): void {
      if (active?.file === "cut") next(active.hour);
    },
    /** Call this when the first waiting segment was folded or set aside. Reuses it as a spare, or deletes it. */
    releaseFirst(): void {
      const segment = waiting.shift();
      if (segment === undefined) return;
      const isReusable =
        segment.file === "whole" &&
        segment.isOf(owner) &&
        // The mark of the sync could reach the disk again, beside visits that weren't synced.
        !segment.isSynced &&
        spares.length < SPARES;
      if (!isReusable) return remove(segment);
      segment.free();
      addSpare(segment);
    },
    /** Call this after the last visit. The active segment then waits to be folded, like the others. */
    async end(): Promise<void> {
      hasEnded = true;
      await preparing;
      if (active?.isEmpty === false) waiting.push(active);
    },
    /** Leaves segments that still wait to the next process. Deletes all others. */
    close(): void {
      const unused = active === undefined || waiting.includes(active) ? spares : [...spares, active];
      unused.forEach(remove);
    },
  };
}

/** If the file is gone, one that took its place is somebody else's. */
function remove({ path, file }: Segment): void {
  if (file !== "gone") rmSync(path, { force: true });
}

function numberOf(path: string): number {
  return Number(/-(\d+)\.visits$/.exec(path)?.[1]);
}
