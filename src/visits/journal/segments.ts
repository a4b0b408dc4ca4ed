import { rmSync } from "node:fs";
import { join } from "node:path";

import { isDiskFull, reasonOf } from "../../lib/error-reason.ts";
import { createSegmentFile, createSegmentFileSync, restoreSegmentFile } from "./segment-file.ts";
import { type Capacity, segmentBytes } from "./segment-layout.ts";
import { openSegment, type Owner, type Segment } from "./segment.ts";
import type { Slot } from "./slots.ts";

const USUAL: Capacity = { links: 8192, details: 32_768, nameBytes: 512 * 1024 };
/**
 * Used after a segment has become full early. When there are many visits, a large segment collects more of them for
 * each link, so that the store is updated less often.
 */
const BUSY: Capacity = { links: 131_072, details: 2_097_152, nameBytes: 16 * 1024 * 1024 };
/** Return to usual segments after this time without a segment that needed to be larger. */
const CALM_MS = 600_000;
/**
 * Limits all segments of a process together. While the store is unavailable they fill up. Then details are lost first,
 * and later the visits of links that are not yet in a segment.
 */
const MAX_BYTES = 128 * 1024 * 1024;
/** How long to wait after `makeInHaste` has failed before trying it again. */
const HASTE_AGAIN_MS = 1000;

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

/**
 * The segments of one process: the active one, to which visits are written, spare ones, and closed ones that wait to be
 * folded into the store.
 */
export function createSegments(options: SegmentsOptions) {
  const { folder, owner, nowMs, hour, onFault, onTrouble } = options;
  const spares: Segment[] = [];
  const waiting: Segment[] = [];
  let { slot } = options;
  let sequence = 0;
  // Never reuse the name of an existing file, because it may still be mapped into memory.
  let files = 0;
  let hasEnded = false;
  let hasteAgainMs = 0;
  let busyUntilMs = Number.NEGATIVE_INFINITY;
  let preparing: Promise<void> | undefined;
  /** The spare segment that is being made. */
  let preparingBytes = 0;
  /** Why visits find no segment. */
  let trouble: string | undefined;
  takeOver(slot);
  /** Undefined if the disk was full at the start. */
  let active = makeFirst();

  function wanted(): Capacity {
    return nowMs() < busyUntilMs ? BUSY : USUAL;
  }

  function newPath(): string {
    // Another process that has the slot now would take the file for one that was left behind.
    if (!slot.isHeld()) throw new Error(`${folder} is no longer the journal of this process`);
    return join(folder, `${slot.number}-${++files}.visits`);
  }

  function takeOver(newSlot: Slot): void {
    slot = newSlot;
    hasteAgainMs = 0;
    waiting.push(...slot.left);
    files = Math.max(files, ...slot.left.map(({ path }) => numberOf(path)));
  }

  function makeNow(): Segment {
    const path = newPath();
    createSegmentFileSync(path, USUAL);
    return openSegment(path);
  }

  /** Links redirect even if no visit can be counted. */
  function makeFirst(): Segment | undefined {
    try {
      const first = makeNow();
      first.start(owner, ++sequence, hour);
      return first;
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      tell(reasonOf(error));
      return undefined;
    }
  }

  function tell(reason: string | undefined): void {
    if (reason !== trouble) onTrouble?.(reason);
    trouble = reason;
  }

  function hasRoomFor(capacity: Capacity): boolean {
    const all = [...spares, ...waiting, ...(active === undefined ? [] : [active])];
    const bytes = all.map((segment) => segmentBytes(segment.capacity));
    return bytes.reduce((sum, one) => sum + one, preparingBytes + segmentBytes(capacity)) <= MAX_BYTES;
  }

  /** For when visits come so fast that the active segment is full before a spare one is ready. Blocks the thread. */
  function makeInHaste(): Segment | undefined {
    if (nowMs() < hasteAgainMs) return undefined;
    if (!hasRoomFor(USUAL)) {
      tell("the store has been away for too long");
      return undefined;
    }
    try {
      return makeNow();
    } catch (error) {
      hasteAgainMs = nowMs() + HASTE_AGAIN_MS;
      tell(reasonOf(error));
      fail(error);
      return undefined;
    }
  }

  /** A full disk that keeps visits from being counted was reported as such. */
  function fail(error: unknown): void {
    if (trouble === undefined || !isDiskFull(error)) onFault(error);
  }

  /** Starts making a spare segment if there is none. */
  function prepare(): void {
    const capacity = wanted();
    if (preparing !== undefined || spares.length > 0 || !hasRoomFor(capacity)) return;
    preparingBytes = segmentBytes(capacity);
    preparing = makeSpare(capacity)
      .catch(fail)
      .finally(() => {
        preparing = undefined;
        preparingBytes = 0;
      });
  }

  async function makeSpare(capacity: Capacity): Promise<void> {
    const path = newPath();
    await createSegmentFile(path, capacity);
    addSpare(openSegment(path));
  }

  function addSpare(segment: Segment): void {
    spares.push(segment);
    tell(undefined);
  }

  function next(newHour: number): boolean {
    if (active?.outgrows(USUAL) === true) busyUntilMs = nowMs() + CALM_MS;
    dropLostSpares();
    const following = spares.shift() ?? makeInHaste();
    if (following === undefined) return false;
    tell(undefined);
    if (active !== undefined) (active.isEmpty ? spares : waiting).push(active);
    active = following;
    active.start(owner, ++sequence, newHour);
    // Without much to do, the last one is folded before this one is full, and is used again.
    if (wanted() === BUSY) prepare();
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
    /** What is not in the store yet. */
    figures() {
      const full = waiting.filter((segment) => segment !== active);
      const visits = full.reduce((sum, segment) => sum + segment.visits, active?.visits ?? 0);
      return { visits, segments: full.length, isCounting: trouble === undefined };
    },
    prepare,

    /** Makes another segment the active one. Returns false if there is no room for one. */
    next,
    /** Goes on in another slot, and also takes what earlier processes left there. */
    takeOver,
    /** Visits in a file that was deleted are still in memory, but only until the process ends: writes them to a new file. */
    async restore(): Promise<void> {
      if (!hasEnded && active !== undefined && active.file !== "whole") next(active.hour);
      dropLostSpares();
      for (const gone of waiting.filter(({ file }) => file === "gone")) {
        const saved = await save(gone);
        const at = waiting.indexOf(gone);
        // Folding may have been faster.
        if (at < 0) remove(saved);
        else waiting[at] = saved;
      }
    },
    /** For as soon as a file may have been cut short: the next visit must not touch it. */
    leaveCut(): void {
      if (active?.file === "cut") next(active.hour);
    },
    /** Call this when the first waiting segment has been folded or put aside. Reuses it as a spare, or deletes it. */
    releaseFirst(): void {
      const segment = waiting.shift();
      if (segment === undefined) return;
      const isWanted =
        segment.file === "whole" &&
        segment.isOf(owner) &&
        spares.length === 0 &&
        segmentBytes(segment.capacity) === segmentBytes(wanted());
      if (!isWanted) return remove(segment);
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
      for (const segment of waiting.filter(({ file }) => file === "whole")) segment.sync();
      const unused = active === undefined || waiting.includes(active) ? spares : [...spares, active];
      unused.forEach(remove);
    },
  };
}

/** A file that took its place is somebody else's. */
function remove({ path, file }: Segment): void {
  if (file !== "gone") rmSync(path, { force: true });
}

function numberOf(path: string): number {
  return Number(/-(\d+)\.visits$/.exec(path)?.[1]);
}
