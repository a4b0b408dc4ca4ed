import type { LinkId, LinkStore } from "../../links/store.ts";
import { HOUR_MS } from "../../links/time.ts";
import { createCommits } from "../commits.ts";
import { closeCases } from "./case-row.ts";
import { createChanges } from "./changes.ts";
import type { Database } from "./database.ts";
import { createInserts } from "./inserts.ts";
import { createLinkCounts, type LinkCounts } from "./link-counts.ts";
import type { Replicas } from "./replicas.ts";

const ENDS = { waiting: 10_000, batch: 200, waitMs: 900 };
/** Hours in which links were made are told apart for so long after the last hold of them is over. */
const KEEP_HOURS_MS = 8 * 24 * HOUR_MS;

/** Of several ends of one link, the earliest counts. Links are locked in the order of their codes. */
const END = `
  WITH asked AS (
    SELECT DISTINCT ON (code COLLATE "C", created_ms) code, created_ms, ends_ms, nth
    FROM unnest($1::text[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS asked (code, created_ms, ends_ms, nth)
    ORDER BY code COLLATE "C", created_ms, ends_ms, nth
  ), found AS MATERIALIZED (
    SELECT links.code, asked.ends_ms, asked.nth FROM links JOIN asked USING (code, created_ms)
    WHERE links.code = ANY ($1::text[]) AND (links.ends_ms IS NULL OR links.ends_ms > asked.ends_ms)
    ORDER BY links.code FOR UPDATE OF links
  ), ended AS (
    UPDATE links SET ends_ms = found.ends_ms FROM found
    WHERE links.code = found.code AND links.code = ANY ($1::text[])
    RETURNING links.code, links.created_ms, found.nth
  ), told AS (INSERT INTO changes (code, created_ms) SELECT code, created_ms FROM ended ORDER BY nth)
  SELECT nth FROM ended`;
/**
 * Rows that somebody else has locked are left for the next time. Nothing can be decided about a link that is gone. The days
 * of its statistics age by themselves.
 */
const PURGE = `
  WITH due AS MATERIALIZED (
    SELECT code FROM links WHERE ends_ms <= $1 AND disabled IS NULL ORDER BY ends_ms LIMIT $2 FOR UPDATE SKIP LOCKED
  ), purged AS (
    DELETE FROM links WHERE code = ANY (ARRAY(SELECT code FROM due)) RETURNING code, created_ms, ends_ms
  ), answered AS (${closeCases("purged", { answer: "erase", atMs: "purged.ends_ms" })}
  ), sums AS (
    DELETE FROM visits USING purged
    WHERE visits.code = ANY (ARRAY(SELECT code FROM due)) AND visits.day = 0
      AND visits.code = purged.code AND visits.created_ms = purged.created_ms
  )
  SELECT created_ms FROM purged`;
/** For work that nobody waits for. */
const BACKGROUND_MS = 10_000;

/** Creates, ends, and what changed. */
export function createLinkTable(
  database: Database,
  counts: LinkCounts = createLinkCounts(database),
  onRead?: Replicas["read"],
) {
  const { run } = database;
  const background = database.within(BACKGROUND_MS);
  const ends = createCommits(ENDS, endAll);
  const changes = createChanges(database, onRead);
  const { insert, settled } = createInserts(database, counts);

  async function endAll(links: readonly (LinkId & { readonly endsMs: number })[]): Promise<boolean[]> {
    const { rows } = await run<{ nth: number }>(END, [
      links.map(({ code }) => code),
      links.map(({ createdMs }) => createdMs),
      links.map(({ endsMs }) => endsMs),
    ]);
    const ended = new Set(rows.map(({ nth }) => nth));
    return links.map((_, at) => ended.has(at + 1));
  }

  return {
    insert,
    changes: changes.changes,
    size: counts.size,
    async end({ code, createdMs }, endsMs) {
      const [isEnded = false] = await ends.add([{ code, createdMs, endsMs }]);
      return isEnded;
    },
    async purge(endedByMs, limit) {
      const { rows } = await background.run<{ created_ms: number }>(PURGE, [endedByMs, limit]);
      for (const { created_ms } of rows) counts.add(created_ms, -1);
      await changes.forget(background);
      await counts.merge(endedByMs - KEEP_HOURS_MS);
      return rows.length;
    },
    /** Finishes what was accepted. */
    async close() {
      await Promise.all([settled(), ends.settled()]);
      await counts.close();
    },
  } satisfies Partial<LinkStore>;
}
