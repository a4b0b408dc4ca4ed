// A SQLite file as it was at one moment, copied while others write to it.
import { Database } from "bun:sqlite";
import { closeSync, fdatasyncSync, openSync } from "node:fs";
import { backup, DatabaseSync } from "node:sqlite";

import { StoreUnusable } from "../../../links/link-store.ts";
import { FileDatabase } from "./file-database.ts";
import { openChecked } from "./file.ts";

const STEP_PAGES = 256;
const PAGE_BYTES = 4096;
/** Creates share the disk with the copy. */
export const MAX_BYTES_PER_S = 64 * 1024 * 1024;
/** So that the last sync does not have to write all of it. Syncs this rare disturb those of creates the least. */
const SYNC_EVERY_BYTES = 8 * 1024 * 1024;
const BUSY_WAIT_MS = 5000;

const SEQUENCES = "SELECT source, sequence FROM sources";

export interface Snapshot {
  /** The sequence that each source of visits had reached. */
  readonly sequences: ReadonlyMap<string, number>;
  /** Fills the empty file `to`, at a bounded rate. Blocks the thread meanwhile. */
  copy(to: string, onStep: (copiedBytes: number, allBytes: number) => void): Promise<void>;
  close(): void;
}

/**
 * Until it is closed, the log of the file cannot be reset, so it grows by what is written meanwhile. Nobody waits
 * for it. Throws {@link StoreUnusable}.
 */
export function openSnapshot(path: string): Snapshot {
  requireBackable(path);
  const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_WAIT_MS });
  // The copy reads in this transaction. Without it, every write of others would restart the copy.
  database.exec("BEGIN");
  const rows = database.prepare(SEQUENCES).all() as { source: string; sequence: number }[];
  return {
    sequences: new Map(rows.map(({ source, sequence }) => [source, sequence])),
    async copy(to, onStep) {
      const synced = openSync(to, "r+");
      let startedMs = performance.now();
      let [copied, syncedBytes] = [0, 0];
      try {
        await backup(database, to, {
          rate: STEP_PAGES,
          progress({ totalPages, remainingPages }) {
            const bytes = (totalPages - remainingPages) * PAGE_BYTES;
            onStep(bytes, totalPages * PAGE_BYTES);
            if (bytes - syncedBytes >= SYNC_EVERY_BYTES) {
              fdatasyncSync(synced);
              syncedBytes = bytes;
            }
            const workMs = performance.now() - startedMs;
            Bun.sleepSync(Math.max(workMs, ((bytes - copied) * 1000) / MAX_BYTES_PER_S - workMs));
            copied = bytes;
            startedMs = performance.now();
          },
        });
      } finally {
        closeSync(synced);
      }
    },
    close: () => database.close(),
  };
}

function requireBackable(path: string): void {
  using database = openChecked(path);
  if (database === undefined)
    throw new StoreUnusable(
      `there is no store at ${path}. Set DATABASE_URL or DATA_DIR and the other settings as for the server.`,
    );
}

/**
 * Moves what the log has gathered during a long copy into the file. Otherwise the next create would have to, and others
 * would wait for it.
 */
export function checkpoint(path: string): void {
  using database = new FileDatabase(path, { readwrite: true });
  database.moveLog("PASSIVE");
}

/** Turns a store that nobody has open into a single file. Readers can open it without write access to its folder. */
export function leaveWal(path: string): void {
  using database = new Database(path, { readwrite: true });
  database.run("PRAGMA journal_mode = DELETE");
}
