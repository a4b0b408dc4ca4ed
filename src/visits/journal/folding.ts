import { startThread, type Thread } from "../../lib/thread.ts";
import { StoreUnavailable } from "../../links/store.ts";
import type { VisitStore } from "../store.ts";
import type { MadeSlice, SliceTask } from "./folding-worker.ts";
import { SegmentDamaged } from "./segment-file.ts";

/**
 * Brings segments to the store, slice by slice. The next slice is made when the store has the one before, so that a
 * slow store holds up nothing but this.
 */
export function startFolding(store: Pick<VisitStore, "add">) {
  let thread: Thread<SliceTask> | undefined;

  return {
    /**
     * Resolves with how long it kept threads busy, in milliseconds. It may be called again after a failure, from here
     * or from another process: what the store has already does not count again. Rejects with {@link SegmentDamaged}
     * where the segment can never be read.
     */
    async fold(path: string): Promise<number> {
      let workMs = 0;
      for (let from = 0; ;) {
        const made = (await (thread ??= startSlicer()).perform({ path, from })) as MadeSlice | undefined;
        if (made === undefined) return workMs;
        const { workMs: makingMs, ...slice } = made;
        workMs += makingMs + (await store.add(slice));
        from += slice.length;
      }
    },
    close: () => thread?.terminate(),
  };
}

/** Started with the first visits, so that the start does not wait for it. */
function startSlicer(): Thread<SliceTask> {
  const start = () => new Worker(new URL("./folding-worker.ts", import.meta.url));
  return startThread<SliceTask>(start, { SegmentDamaged, StoreUnavailable });
}
