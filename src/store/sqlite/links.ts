// The writer's half of the links: runs in the worker thread, one transaction a call.
import type { Database } from "bun:sqlite";

import { NEVER_MS } from "../../links/link.ts";
import type { LinkId, NewLink } from "../../links/store.ts";
import type { ChangesTable } from "./changes.ts";

const INSERT = `
  INSERT INTO links (code, original_url, target, created_ms, ends_ms)
  VALUES (?1, ?2, ?3, ?4, ?5)
  ON CONFLICT (code) DO UPDATE
    SET original_url = excluded.original_url, target = excluded.target,
        created_ms = excluded.created_ms, ends_ms = excluded.ends_ms
    WHERE links.ends_ms <= ?6 AND links.disabled IS NULL`;
const END = `
  UPDATE links SET ends_ms = ?3
  WHERE code = ?1 AND created_ms = ?2 AND (ends_ms IS NULL OR ends_ms > ?3)`;
const DUE = "SELECT rowid FROM links WHERE ends_ms <= ?1 AND disabled IS NULL ORDER BY ends_ms LIMIT ?2";
/** The days of its statistics age by themselves. */
const PURGE_SUMS = `
  DELETE FROM visits WHERE day = 0 AND (code, created_ms) IN
    (SELECT code, created_ms FROM links WHERE rowid IN (${DUE}))`;
const PURGE = `DELETE FROM links WHERE rowid IN (${DUE})`;

export function prepareLinks(database: Database, changes: ChangesTable) {
  const insert = database.prepare<unknown, [string, string, string | null, number, number | null, number]>(
    INSERT,
  );
  const end = database.prepare<unknown, [string, number, number]>(END);
  const purgeSums = database.prepare<unknown, [number, number]>(PURGE_SUMS);
  const purge = database.prepare<unknown, [number, number]>(PURGE);

  function insertOne({ code, originalUrl, target, createdMs, endsMs, freeIfEndedByMs }: NewLink): boolean {
    const storedTarget = (target as string) === originalUrl ? null : target;
    const storedEndMs = endsMs === NEVER_MS ? null : endsMs;
    return insert.run(code, originalUrl, storedTarget, createdMs, storedEndMs, freeIfEndedByMs).changes === 1;
  }

  const insertAll = database.transaction((links: readonly NewLink[]) => links.map(insertOne));
  const endOne = database.transaction(({ code, createdMs }: LinkId, endsMs: number) => {
    if (end.run(code, createdMs, endsMs).changes === 0) return false;
    changes.add(code, createdMs);
    return true;
  });
  const purgeAll = database.transaction((endedByMs: number, limit: number) => {
    purgeSums.run(endedByMs, limit);
    return purge.run(endedByMs, limit).changes;
  });

  return {
    /** One transaction, one sync: this is the group commit. Returns after COMMIT did; says which were inserted. */
    insert: (links: readonly NewLink[]): boolean[] => insertAll.immediate(links),
    end: (link: LinkId, endsMs: number): boolean => endOne.immediate(link, endsMs),
    purge: (endedByMs: number, limit: number): number => purgeAll.immediate(endedByMs, limit),
    close() {
      for (const statement of [insert, end, purgeSums, purge]) statement.finalize();
    },
  };
}
