import type { LinkStore } from "../../links/store.ts";
import { createStoreFigures } from "../commits.ts";
import { createChanges } from "./changes.ts";
import type { Database } from "./connection/database.ts";
import type { Replicas } from "./connection/replicas.ts";
import { closeCases, createInserts } from "./inserts.ts";
import { createLinkCount, type LinkCount } from "./link-count.ts";
import { createRequests } from "./requests.ts";
import { createUpdates } from "./updates.ts";

/**
 * Rows that somebody else has locked are left for the next time. Nothing can be decided about a link that is gone. The days
 * of its statistics age by themselves.
 */
const PURGE = `
  WITH due AS MATERIALIZED (
    SELECT code FROM links WHERE ends_ms <= $1 AND disabled IS NULL ORDER BY ends_ms LIMIT $2 FOR UPDATE SKIP LOCKED
  ), purged AS (
    DELETE FROM links WHERE code = ANY (ARRAY(SELECT code FROM due)) RETURNING code, created_ms, ends_ms
  ), answered AS (${closeCases("purged")}
  ), sums AS (
    DELETE FROM visits USING purged
    WHERE visits.code = ANY (ARRAY(SELECT code FROM due)) AND visits.day = 0
      AND visits.code = purged.code AND visits.created_ms = purged.created_ms
  )
  SELECT count(*) AS purged FROM purged`;
/** For work that nobody waits for. */
const BACKGROUND_MS = 10_000;

/** Creates, changes, and what changed. */
export function createLinkTable(
  database: Database,
  count: LinkCount = createLinkCount(database),
  onRead?: Replicas["read"],
  figures = createStoreFigures(),
) {
  const background = database.within(BACKGROUND_MS);
  const changes = createChanges(database, onRead);
  const inserts = createInserts(database, count, figures.links);
  const requests = createRequests(database, background, count, figures.requests);
  const updates = createUpdates(database, figures.updates);

  return {
    insert: inserts.insert,
    insertOnce: requests.insertOnce,
    recall: requests.recall,
    forgetRequests: requests.forgetRequests,
    update: updates.update,
    changes: changes.changes,
    size: count.size,
    async purge(endedByMs, limit) {
      const { rows } = await background.run<{ purged: number }>(PURGE, [endedByMs, limit]);
      const purged = rows[0]?.purged ?? 0;
      count.add(-purged);
      await changes.forget(background);
      return purged;
    },
    /** Finishes what was accepted. */
    async close() {
      await Promise.all([inserts, requests, updates].map(({ settled }) => settled()));
      await count.close();
    },
  } satisfies Partial<LinkStore>;
}
