import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";

import { type Capacity, segmentBytes } from "./layout.ts";
import { makeSegmentFile, makeSegmentFileNow } from "./segment-file.ts";
import { openSegment, type Owner, type Segment } from "./segment.ts";
import type { Slot } from "./slots.ts";

const USUAL: Capacity = { links: 8192, details: 32_768, nameBytes: 512 * 1024 };
/**
 * Follows a segment that filled up before its time. Where many links are visited, a large segment writes each of them to
 * the store once for many visits.
 */
const BUSY: Capacity = { links: 131_072, details: 2_097_152, nameBytes: 16 * 1024 * 1024 };
/** Usual segments are made again when none has outgrown them for this long. */
const CALM_MS = 600_000;
/** Of all segments of a process. While the store is away they fill up: details are lost first, then visits of new links. */
const MAX_BYTES = 128 * 1024 * 1024;
/** After making a segment at once has failed, it is not tried again for this long. */
const HASTE_AGAIN_MS = 1000;

export interface SegmentsOptions {
  readonly folder: string;
  readonly slot: Slot;
  readonly owner: Owner;
  /** Monotonic. */
  readonly nowMs: () => number;
  /** In hours since 1970 (UTC), of the first segment. */
  readonly hour: number;
  readonly onFault: (error: unknown) => void;
}

/** The segments of one process: the active one, which is written to; spare ones; and full ones that wait to be folded. */
export function createSegments({ folder, slot, owner, nowMs, hour, onFault }: SegmentsOptions) {
  const spares: Segment[] = [];
  const waiting: Segment[] = [...slot.left];
  let sequence = 0;
  // A file that is there may be mapped, so its number is never given again.
  let files = Math.max(0, ...waiting.map(({ path }) => numberOf(path)));
  let hasteAgainMs = 0;
  let busyUntilMs = Number.NEGATIVE_INFINITY;
  let preparing: Promise<void> | undefined;
  let active = makeNow();
  active.begin(owner, ++sequence, hour);

  function wanted(): Capacity {
    return nowMs() < busyUntilMs ? BUSY : USUAL;
  }

  function newPath(): string {
    return join(folder, `${slot.number}-${++files}.visits`);
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
      hasteAgainMs = nowMs() + HASTE_AGAIN_MS;
      onFault(error);
      return undefined;
    }
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

  prepare();

  return {
    get active() {
      return active;
    },
    /** Oldest first. */
    waiting: waiting as readonly Segment[],
    prepare,

    /** Goes on in a new segment; false when there is no room for one. */
    next(newHour: number): boolean {
      if (active.outgrows(USUAL)) busyUntilMs = nowMs() + CALM_MS;
      const next = spares.shift() ?? makeInHaste();
      prepare();
      if (next === undefined) return false;
      if (active.isEmpty) spares.push(active);
      else waiting.push(active);
      active = next;
      active.begin(owner, ++sequence, newHour);
      return true;
    },
    /** The first that waits has been folded, or put aside: it becomes a spare one, or goes. */
    releaseFirst(): void {
      const segment = waiting.shift();
      if (segment === undefined) return;
      segment.free();
      const isOurs = segment.source === active.source && existsSync(segment.path);
      const isWanted =
        isOurs && spares.length === 0 && segmentBytes(segment.capacity) === segmentBytes(wanted());
      if (isWanted) spares.push(segment);
      else rmSync(segment.path, { force: true });
    },
    /** Nothing is written any more: the active segment waits like the others. */
    async end(): Promise<void> {
      await preparing;
      if (!active.isEmpty) waiting.push(active);
    },
    /** Leaves to the next process what waits still, and nothing else. */
    close(): void {
      for (const segment of waiting.filter(({ path }) => existsSync(path))) segment.sync();
      for (const { path } of [...spares, active].filter((segment) => !waiting.includes(segment)))
        rmSync(path, { force: true });
    },
  };
}

function numberOf(path: string): number {
  return Number(/-(\d+)\.visits$/.exec(path)?.[1]);
}
