import { Database } from "bun:sqlite";
import { readdirSync } from "node:fs";
import { join } from "node:path";

import type { Code } from "../../src/links/code.ts";
import { StoreUnavailable } from "../../src/links/link-store.ts";
import { HOUR_MS } from "../../src/links/time.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Slice } from "../../src/visits/days/slice.ts";
import { openJournal } from "../../src/visits/journal/journal.ts";
import { counterOf, createRecorder } from "../../src/visits/recorder.ts";
import { createVisitors } from "../../src/visits/visitor-numbers.ts";
import { WINDOWS_CHROME } from "./visits.ts";

export const NOW = 490_000 * HOUR_MS;
export const CREATED = NOW - HOUR_MS;
export const VISIT = {
  headers: new Headers({ "User-Agent": WINDOWS_CHROME }),
  client: () => ({ address: "127.0.0.1", country: "" }),
};

export const link = (code: string) => counterOf({ code: code as Code, createdMs: CREATED });

/** Opens a recorder with a journal and a store, which is unavailable while `isAway`. */
export async function openRecorder(folder: string, isAway = () => false) {
  const file = join(folder, "curt.db");
  const near = await openSqliteStore(file);
  const store = {
    ...near,
    add: (slice: Slice) => (isAway() ? Promise.reject(new StoreUnavailable("away")) : near.add(slice)),
  };
  const faults: unknown[] = [];
  const journal = await openJournal({
    folder: join(folder, "visits"),
    store,
    nowMs: () => performance.now(),
    hour: () => NOW / HOUR_MS,
    onFault: (error) => faults.push(error),
    onDropped: (path) => faults.push(path),
    tickMs: 10,
  });
  const visitors = createVisitors(store);
  let folding: Promise<void> | undefined;
  /** Folds all visits and ends the journal. */
  const fold = () => (folding ??= journal.close());
  return {
    store,
    journal,
    faults,
    recorder: createRecorder({ journal, visitors }),
    segments: () => readdirSync(join(folder, "visits")).filter((name) => name.endsWith(".visits")),
    fold,
    /** Folds all visits and counts those in the store. */
    async counted() {
      await fold();
      using database = new Database(file, { readonly: true });
      return database.query("SELECT count(*) AS links, coalesce(sum(visits), 0) AS visits FROM visits").get();
    },
    async [Symbol.asyncDispose]() {
      await fold();
      await store.close();
    },
  };
}
