import { startThread, type Thread } from "../../lib/thread.ts";
import { StoreUnavailable } from "../../links/link-store.ts";
import type { VisitStore } from "../days/visit-store.ts";
import type { FoldingCalls } from "./folding-worker.ts";
import { SegmentDamaged } from "./segment-file.ts";

/**
 * Folds segments into the store, slice by slice. A worker creates the next slice when the store has the one before, so
 * that a slow store delays nothing else. The worker starts with the first visits.
 */
export function startFolding(store: Pick<VisitStore, "add">) {
  let thread: Thread<FoldingCalls> | undefined;

  return {
    /**
     * Resolves with the milliseconds that it kept threads busy. After a failure, any process may call it again: the store
     * doesn't count a row twice. Rejects with {@link SegmentDamaged} if the segment can never be read.
     */
    async fold(path: string): Promise<number> {
      let workMs = 0;
      for (let from = 0; ;) {
        thread ??= startWorker();
        const timed = await thread.perform("slice", { path, from });
        if (timed === undefined) return workMs;
        const { workMs: sliceMs, ...slice } = timed;
        workMs += sliceMs + (await store.add(slice));
        from += slice.length;
      }
    },
    /** Puts a segment on disk that nobody writes to any more, so that it survives a crash of the machine. */
    async sync(path: string): Promise<void> {
      thread ??= startWorker();
      await thread.perform("sync", { path });
    },
    close: () => thread?.terminate(),
  };
}

function startWorker(): Thread<FoldingCalls> {
  const start = () => new Worker(new URL("./folding-worker.ts", import.meta.url));
  return startThread<FoldingCalls>(start, { SegmentDamaged, StoreUnavailable });
}
