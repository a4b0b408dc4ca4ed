// The worker thread that reads and syncs segments, so that no redirect waits for it.
import { performTasks } from "../../lib/thread.ts";
import { StoreUnavailable } from "../../links/link-store.ts";
import { createDay } from "../days/day.ts";
import { MAX_ROWS, type Slice, encodeRows } from "../days/slice.ts";
import { isTransient, SegmentDamaged, syncSegment } from "./segment-file.ts";
import { readSegment, type SegmentVisits } from "./segment-reader.ts";

/** Collecting garbage this often lowers the memory peak of a large segment by a quarter, for 8 % more time. */
const COLLECT_EVERY_ROWS = 20 * MAX_ROWS;

interface SliceTask {
  readonly path: string;
  /** The first row of the slice. */
  readonly from: number;
}

/** A slice, and how long its creation took. */
interface TimedSlice extends Slice {
  readonly workMs: number;
}

let reading: { path: string; segment: SegmentVisits } | undefined;

/** Undefined if the segment has no more rows. */
function createSlice({ path, from }: SliceTask): TimedSlice | undefined {
  const startMs = performance.now();
  // Paths are reused, so the first slice reads the file again.
  if (from === 0 || reading?.path !== path) reading = { path, segment: readSegment(path) };
  const { segment } = reading;
  const { source, sequence, hour } = segment;
  const length = Math.min(MAX_ROWS, segment.length - from);
  if (length <= 0) {
    reading = undefined;
    // Without this, the thread would keep the memory of a large segment until the next one.
    setTimeout(() => Bun.gc(true), 0);
    return undefined;
  }
  const day = Math.floor(hour / 24);
  if (from % COLLECT_EVERY_ROWS === 0) Bun.gc(true);
  const rows = Array.from({ length }, (_, nth) => {
    const link = segment.at(from + nth);
    return { code: link.code, createdMs: link.createdMs, day, ...createDay(link, hour % 24) };
  });
  return { source, sequence, from, length, rows: encodeRows(rows), workMs: performance.now() - startMs };
}

const calls = {
  slice(task: SliceTask): TimedSlice | undefined {
    try {
      return createSlice(task);
    } catch (error) {
      const message = `${task.path} cannot be read: ${String(error)}`;
      throw isTransient(error) ? new StoreUnavailable(message) : new SegmentDamaged(message);
    }
  },
  sync({ path }: { readonly path: string }): void {
    syncSegment(path);
  },
};

export type FoldingCalls = typeof calls;

performTasks(calls);
