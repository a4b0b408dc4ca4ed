import { join } from "node:path";

import { StoreUnavailable } from "../../src/links/store.ts";
import { HOUR_MS } from "../../src/links/time.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { openJournal } from "../../src/visits/journal/journal.ts";
import { createRecorder } from "../../src/visits/recorder.ts";
import type { Slice } from "../../src/visits/visit-rows.ts";
import { createVisitors } from "../../src/visits/visitor.ts";
import { WINDOWS_CHROME } from "./visits.ts";

export const NOW = 490_000 * HOUR_MS;
export const CREATED = NOW - HOUR_MS;
export const VISIT = {
  headers: new Headers({ "User-Agent": WINDOWS_CHROME }),
  client: () => ({ address: "127.0.0.1", country: "" }),
};

/** A recorder over a journal over a store, and the sums that are in the store. */
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
  return { file, store, journal, faults, recorder: createRecorder({ journal, visitors }) };
}
