import { performTasks } from "../../lib/thread.ts";
// The worker thread that reads segments, so that no redirect waits for it.
import { StoreUnavailable } from "../../links/store.ts";
import { createDay } from "../day.ts";
import { MAX_ROWS, type Slice, encodeRows } from "../visit-rows.ts";
import { isPassing, SegmentDamaged } from "./segment-file.ts";
import { readSegment, type SegmentVisits } from "./segment-reader.ts";

/** Rows leave garbage. Collecting it this often lowers the peak of a large segment by a quarter, for 8 % more time. */
const COLLECT_EVERY_ROWS = 20 * MAX_ROWS;

/** For the slice of a segment that begins with this row. */
export interface SliceTask {
  readonly path: string;
  readonly from: number;
}

/** A slice, and how long it took to make it. */
export interface MadeSlice extends Slice {
  readonly workMs: number;
}

let reading: { path: string; segment: SegmentVisits } | undefined;

/** Undefined where the segment has no more rows. */
function makeSlice({ path, from }: SliceTask): MadeSlice | undefined {
  const startMs = performance.now();
  // A path is used again: the first slice reads the file anew.
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

performTasks((task: SliceTask) => {
  try {
    return makeSlice(task);
  } catch (error) {
    const message = `${task.path} cannot be read: ${String(error)}`;
    throw isPassing(error) ? new StoreUnavailable(message) : new SegmentDamaged(message);
  }
});
