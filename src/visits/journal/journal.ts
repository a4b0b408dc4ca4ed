import { existsSync, type FSWatcher, rmSync, watch } from "node:fs";
import { dirname } from "node:path";

import { createFolder } from "../../lib/files.ts";
import { fillRandom } from "../../lib/random.ts";
import { repeat } from "../../lib/repeat.ts";
import type { VisitStore } from "../days/visit-store.ts";
import { bootWords } from "./boot.ts";
import { startFolding } from "./folding.ts";
import { claimJournal } from "./journal-store.ts";
import { setAside, SegmentDamaged } from "./segment-file.ts";
import type { Owner, Segment } from "./segment.ts";
import { createSegments } from "./segments.ts";
import { abandonedSlots, takeSlot } from "./slots.ts";

export const TICK_MS = 1000;
/** Folding takes at most this share of the time, but no visit waits longer than a minute for it. */
const FOLD_SHARE = 1 / 40;
export const MAX_FOLD_PAUSE_MS = 60_000;
const ABANDONED_EVERY_MS = 60_000;
/** A segment that waits at two consecutive checks is synced, so within a minute. */
const SYNC_EVERY_MS = 30_000;

/** Tests lower it. */
export interface JournalTiming {
  readonly tickMs?: number;
}

export interface JournalOptions extends JournalTiming {
  /** Only for journals of this service. Created if missing. */
  readonly folder: string;
  readonly store: Pick<VisitStore, "add" | "identity">;
  /** Monotonic. */
  readonly nowMs: () => number;
  /** Hours since 1970 (UTC). */
  readonly hour: () => number;
  readonly onFault: (error: unknown) => void;
  /** Called for a segment that cannot be trusted or read, which only a power cut leaves behind. */
  readonly onDropped: (path: string) => void;
  /** Called if the store does not take the last visits. They stay in the folder until the next start. */
  readonly onLeft?: () => void;
  /** Called with the reason when visits can't be counted, and with undefined when they can again. */
  readonly onTrouble?: (reason: string | undefined) => void;
}

export type Journal = Awaited<ReturnType<typeof openJournal>>;

/**
 * Opens the journal, which keeps visits until the store has them. A process writes to one segment at a time; full ones
 * wait to be folded, in order. Other processes fold the segments of a dead one. Throws `StoreUnusable` for the journal of another store.
 */
export async function openJournal(options: JournalOptions) {
  const { folder, store, nowMs, hour, onFault, onDropped, onLeft, tickMs = TICK_MS } = options;
  createFolder(folder);
  const [source0 = 0, source1 = 0] = fillRandom(new Uint32Array(2));
  const owner: Owner = { source: [source0, source1], boot: bootWords() };
  const slots = { folder, owner, onFault, onDropped };
  const identity = await store.identity();
  let slot = await claimJournal(folder, identity, () => takeSlot(slots));
  const segments = createSegments({ ...options, slot, owner, hour: hour() });
  const folding = startFolding(store);
  let foldAtMs = 0;
  let abandonedAtMs = 0;
  let syncAtMs = 0;
  let waitedBefore: readonly Segment[] = [];

  /** A damaged segment does not block the others. */
  async function fold(segment: Segment): Promise<number> {
    const { path } = segment;
    try {
      return await folding.fold(path);
    } catch (error) {
      if (!(error instanceof SegmentDamaged) || segment.file === "gone") throw error;
      onFault(error);
      onDropped(path);
      setAside(path);
      return 0;
    }
  }

  /** Somebody may delete the folder, or files in it, while visits are counted. */
  async function restore(): Promise<void> {
    if (!slot.isHeld()) {
      // Without its parent, perhaps an unmounted volume, the folder can't be created.
      if (existsSync(dirname(folder))) createFolder(folder);
      const lost = slot;
      slot = await claimJournal(folder, identity, () => takeSlot(slots, lost));
      lost.free();
      segments.takeOver(slot);
      watching?.close();
      watching = watchFolder();
      onFault(new Error(`${folder} was deleted or moved: created again, with all visits in memory`));
    }
    await segments.restore();
  }

  async function foldWaiting(): Promise<void> {
    for (let first = segments.waiting[0]; first !== undefined; first = segments.waiting[0]) {
      const workMs = await fold(first);
      segments.releaseFirst();
      foldAtMs = nowMs() + Math.min(workMs / FOLD_SHARE, MAX_FOLD_PAUSE_MS);
    }
  }

  /** After a failure, a crash of the machine loses the segment; a crash of Curt doesn't. */
  async function sync(waiting: readonly Segment[]): Promise<void> {
    for (const { path } of waiting.filter(({ file, isSynced }) => file === "whole" && !isSynced))
      await folding.sync(path).catch(onFault);
  }

  /** Runs while the store is unavailable, never during a fold, after which a file may be reused. */
  async function syncWaiting(): Promise<void> {
    if (nowMs() < syncAtMs) return;
    syncAtMs = nowMs() + SYNC_EVERY_MS;
    await sync(segments.waiting.filter((segment) => waitedBefore.includes(segment)));
    waitedBefore = [...segments.waiting];
  }

  async function foldAbandoned(): Promise<void> {
    for (const { abandoned } of abandonedSlots(slot, slots)) {
      for (const segment of abandoned) {
        await fold(segment);
        rmSync(segment.path, { force: true });
      }
    }
  }

  async function tick(): Promise<void> {
    const startMs = nowMs();
    // While the store is unavailable, only full segments and those of earlier hours wait.
    if (startMs >= foldAtMs && segments.waiting.length === 0 && segments.active?.isEmpty === false)
      segments.next(hour());
    try {
      await foldWaiting();
    } finally {
      segments.prepare();
      await syncWaiting();
    }
    if (startMs < abandonedAtMs) return;
    abandonedAtMs = startMs + ABANDONED_EVERY_MS;
    await foldAbandoned();
  }

  /** The next visit must not touch a file that was cut short, so this can't wait for a tick. */
  function watchFolder(): FSWatcher | undefined {
    try {
      return watch(folder, { persistent: false }, segments.leaveCut).on("error", onFault);
    } catch (error) {
      onFault(error);
      return undefined;
    }
  }

  let watching = watchFolder();
  const repetitions = [
    repeat(tickMs, restore, onFault),
    // Separate, because this one may wait for the store.
    repeat(tickMs, tick, onFault),
  ];

  return {
    /** The segment to write to; undefined if the disk was full at the start. */
    get active() {
      return segments.active;
    },
    figures: segments.figures,
    /** Continues in a new segment, for a new hour (since 1970, UTC) or because the active one is full. False if it can't. */
    next: segments.next,
    /** Folds everything. Visits that the store doesn't take now are kept for the next start. */
    async close(): Promise<void> {
      watching?.close();
      for (const repetition of repetitions) await repetition.stop();
      await segments.end();
      await restore().catch(onFault);
      try {
        await foldWaiting();
      } catch (error) {
        onFault(error);
        onLeft?.();
        await sync(segments.waiting);
      }
      segments.close();
      folding.close();
      slot.free();
    },
  };
}
