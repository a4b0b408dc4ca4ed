import type { Changes, Position } from "../../links/changes.ts";
import type { Code } from "../../links/code.ts";
import type { LinkStore } from "../../links/store.ts";
import type { Result, Statements } from "./database.ts";

/** Stands for the rules about hosts. No link has this code. */
const RULES = "";
/** Changes in one answer. A reader that missed more forgets everything it remembers. */
const MAX_CHANGES = 10_000;
/** Deleted at once. */
const MAX_FORGOTTEN = 50_000;

/** After a failover, transactions may get the numbers of others that the old primary lost. */
const TIMELINE = "substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)";
const NOW = `SELECT pg_current_snapshot()::text AS snapshot, ${TIMELINE} AS timeline`;
/**
 * What the snapshot $1 does not show yet, and this one does: however long a transaction took to commit, it is told once.
 * On another timeline than $2, everything that is kept is told again.
 */
const SINCE = `
  WITH now AS MATERIALIZED (${NOW}, ${TIMELINE} = $2 AS is_same)
  SELECT snapshot, timeline,
    (SELECT transaction < pg_snapshot_xmin($1::pg_snapshot) FROM forgotten_changes) AS is_complete,
    ARRAY(SELECT code FROM changes
      WHERE transaction >= CASE WHEN is_same THEN pg_snapshot_xmin($1::pg_snapshot) ELSE '0' END
        AND NOT (is_same AND pg_visible_in_snapshot(transaction, $1::pg_snapshot))
      ORDER BY transaction LIMIT ${MAX_CHANGES + 1}) AS codes
  FROM now`;
/** Not while a transaction that began earlier is under way: a reader's position may be as old as that one. */
const FORGET = `
  WITH old AS (
    SELECT transaction FROM changes WHERE transaction < pg_snapshot_xmin(pg_current_snapshot())
    ORDER BY transaction LIMIT ${MAX_FORGOTTEN}
  ), last AS (
    SELECT transaction FROM changes WHERE transaction IN (SELECT transaction FROM old)
      AND made_at < now() - interval '1 hour'
    ORDER BY transaction DESC LIMIT 1
  ), forgotten AS (
    DELETE FROM changes WHERE transaction <= (SELECT transaction FROM last)
  )
  UPDATE forgotten_changes SET transaction = last.transaction FROM last
  WHERE forgotten_changes.transaction < last.transaction`;

interface Now {
  snapshot: string;
  timeline: string;
}

interface Told extends Now {
  is_complete: boolean;
  codes: string[];
}

/** What changed, for the memories of all processes. A position is a snapshot: it tells which transactions its reader saw. */
export function createChanges({ run }: Statements) {
  async function changesSince(position: Position): Promise<Changes> {
    const [timeline, snapshot] = position.split(" ");
    const told = only(await run<Told>(SINCE, [snapshot, timeline]));
    const isComplete = told.is_complete && told.codes.length <= MAX_CHANGES;
    const all = isComplete ? told.codes : [];
    const codes = all.filter((code) => code !== RULES) as Code[];
    return { ...NO_CHANGES, position: positionOf(told), codes, rules: codes.length < all.length, isComplete };
  }

  return {
    async changes(since?: Position): Promise<Changes> {
      if (since !== undefined) return changesSince(since);
      return { ...NO_CHANGES, position: positionOf(only(await run<Now>(NOW))) };
    },
    /** Deletes changes that are older than an hour. */
    forget: (background: Statements) => background.run(FORGET),
  } satisfies Pick<LinkStore, "changes"> & { forget: unknown };
}

const NO_CHANGES = { codes: [], rules: false, hasMore: false, isComplete: true };

function positionOf({ timeline, snapshot }: Now): Position {
  return `${timeline} ${snapshot}` as Position;
}

function only<Row>({ rows }: Result<Row>): Row {
  const [row] = rows;
  if (row === undefined) throw new Error("A statement that always returns a row returned none");
  return row;
}
