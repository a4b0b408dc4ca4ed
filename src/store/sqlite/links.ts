// The writer's half of the links: runs in the worker thread, one transaction a call.
import type { Database } from "bun:sqlite";

import { NEVER_MS } from "../../links/link.ts";
import type { LinkId, NewLink } from "../../links/store.ts";
import type { Target } from "../../links/target.ts";
import type { ChangesTable } from "./changes.ts";
import type { SitesIndex } from "./sites.ts";

const INSERT = `
  INSERT INTO links (code, original_url, target, created_ms, ends_ms, rowid)
  VALUES (?1, ?2, ?3, ?4, ?5, ?7)
  ON CONFLICT (code) DO UPDATE
    SET rowid = excluded.rowid, original_url = excluded.original_url, target = excluded.target,
        created_ms = excluded.created_ms, ends_ms = excluded.ends_ms
    WHERE links.ends_ms <= ?6 AND links.disabled IS NULL`;
const END = `
  UPDATE links SET ends_ms = ?3
  WHERE code = ?1 AND created_ms = ?2 AND (ends_ms IS NULL OR ends_ms > ?3)`;
const DUE = "SELECT rowid FROM links WHERE ends_ms <= ?1 AND disabled IS NULL ORDER BY ends_ms LIMIT ?2";
/** The days of its statistics age by themselves. */
const purgeSumsIn = (table: string) => `
  DELETE FROM ${table} WHERE day = 0 AND (code, created_ms) IN
    (SELECT code, created_ms FROM links WHERE rowid IN (${DUE}))`;
const PURGE = `
  DELETE FROM links WHERE rowid IN (${DUE}) RETURNING rowid AS link, coalesce(target, original_url) AS target`;

export function prepareLinks(database: Database, changes: ChangesTable, sites: SitesIndex) {
  const insert = database.prepare<
    unknown,
    [string, string, string | null, number, number | null, number, number]
  >(INSERT);
  const end = database.prepare<unknown, [string, number, number]>(END);
  const purgeSums = ["visits", "old_visits"].map((table) =>
    database.prepare<unknown, [number, number]>(purgeSumsIn(table)),
  );
  const purge = database.prepare<{ link: number; target: Target }, [number, number]>(PURGE);

  /** A code that is given anew gets a new rowid too, because newer links have higher ones. */
  function insertOne(link: NewLink, rowid: number): boolean {
    const { code, originalUrl, target, createdMs, endsMs, freeIfEndedByMs } = link;
    const storedTarget = (target as string) === originalUrl ? null : target;
    const storedEndMs = endsMs === NEVER_MS ? null : endsMs;
    const row = [code, originalUrl, storedTarget, createdMs, storedEndMs, freeIfEndedByMs] as const;
    return insert.run(...row, rowid).changes === 1;
  }

  const insertAll = database.transaction((links: readonly NewLink[]) => {
    let rowid = sites.nextLink();
    return links.map((link) => {
      const isInserted = insertOne(link, rowid);
      if (isInserted) rowid++;
      return isInserted;
    });
  });
  const endOne = database.transaction(({ code, createdMs }: LinkId, endsMs: number) => {
    if (end.run(code, createdMs, endsMs).changes === 0) return false;
    changes.add(code, createdMs);
    return true;
  });
  const purgeAll = database.transaction((endedByMs: number, limit: number) => {
    for (const ofTable of purgeSums) ofTable.run(endedByMs, limit);
    const purged = purge.all(endedByMs, limit);
    for (const { link, target } of purged) sites.remove(link, target);
    return purged.length;
  });

  return {
    /** One transaction, one sync: this is the group commit. Returns after COMMIT did; says which were inserted. */
    insert: (links: readonly NewLink[]): boolean[] => insertAll.immediate(links),
    end: (link: LinkId, endsMs: number): boolean => endOne.immediate(link, endsMs),
    purge: (endedByMs: number, limit: number): number => purgeAll.immediate(endedByMs, limit),
    close() {
      for (const statement of [insert, end, ...purgeSums, purge]) statement.finalize();
    },
  };
}
