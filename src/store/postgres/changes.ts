import type { LinkKey } from "../../links/code.ts";
import type { Changes, LinkStore, Position } from "../../links/link-store.ts";
import { RULES } from "../shared/decisions.ts";
import type { Result, Value } from "./connection/connection.ts";
import type { Statements } from "./connection/database.ts";

/** A change of nothing, which `replicas.ts` waits for. No link has this key, whereas an imported one may be a space. */
const MARKER = "/";
/** Changes in one response. A reader that missed more forgets everything it remembers. */
const MAX_CHANGES = 10_000;
/** Rows per deletion. */
const MAX_FORGOTTEN = 50_000;

/** A change that changes nothing. */
export const MARK = `
  INSERT INTO changes (code) VALUES ('${MARKER}')
  RETURNING transaction::text, pg_postmaster_start_time()::text AS server`;
/**
 * A reader's position: which transactions it sees, and the newest change among them with its time. The start time
 * identifies the server: no two start in the same microsecond.
 */
const NOW = `
  SELECT pg_current_snapshot()::text AS snapshot, pg_postmaster_start_time()::text AS server, coalesce(newest.transaction, forgotten.transaction)::text AS newest,
    extract(epoch FROM made_at)::text AS made, forgotten.transaction AS forgotten
  FROM forgotten_changes AS forgotten LEFT JOIN (
    SELECT transaction, made_at FROM changes ORDER BY transaction DESC LIMIT 1) AS newest ON TRUE`;
/**
 * The changes that snapshot $1 did not show: each transaction is read once, however long its commit took. All changes after
 * the newest one $2 are unread, whatever the snapshot says: a restarted server may reuse the numbers of transactions that
 * wrote nothing. If $2 is gone without having been forgotten, a failover has lost changes.
 */
const SINCE = `
  WITH now AS MATERIALIZED (${NOW})
  SELECT snapshot, server, newest, made,
    forgotten <= $2::xid8 AND forgotten < pg_snapshot_xmin($1::pg_snapshot)
      AND (forgotten = $2::xid8 OR EXISTS (
        SELECT FROM changes WHERE transaction = $2::xid8 AND extract(epoch FROM made_at)::text = $3)) AS is_complete,
    ARRAY(SELECT code FROM changes
      WHERE transaction >= least($2::xid8, pg_snapshot_xmin($1::pg_snapshot))
        AND NOT (transaction <= $2::xid8 AND pg_visible_in_snapshot(transaction, $1::pg_snapshot))
      ORDER BY transaction LIMIT ${MAX_CHANGES + 1}) AS codes
  FROM now`;
/** Keeps changes as old as the oldest running transaction: a reader's position may be as old. */
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

export interface Now {
  snapshot: string;
  /** When the server that answered was started. */
  server: string;
  newest: string;
  made: string | null;
}

interface ChangesRow extends Now {
  is_complete: boolean;
  codes: string[];
}

/**
 * Reads the changes that `link-updates.ts` and `store/shared/decisions.ts` write, which the memories of all processes follow. A
 * position says which transactions its reader saw.
 */
export function createChanges({ run }: Statements, onRead: (now: Now, atMs: number) => void = () => {}) {
  async function read<Row extends Now>(statement: string, values: readonly Value[]): Promise<Row> {
    const atMs = performance.now();
    const now = only(await run<Row>(statement, values));
    onRead(now, atMs);
    return now;
  }

  async function changesSince(position: Position): Promise<Changes> {
    const row = await read<ChangesRow>(SINCE, position.split(" "));
    const isComplete = row.is_complete && row.codes.length <= MAX_CHANGES;
    const all = isComplete ? row.codes : [];
    const keys = all.filter((code) => code !== RULES && code !== MARKER) as LinkKey[];
    return { ...NO_CHANGES, position: positionOf(row), keys, rules: all.includes(RULES), isComplete };
  }

  return {
    async changes(since?: Position): Promise<Changes> {
      if (since !== undefined) return changesSince(since);
      return { ...NO_CHANGES, position: positionOf(await read<Now>(NOW, [])) };
    },
    /** Deletes changes that are older than an hour. */
    forget: (background: Statements) => background.run(FORGET),
  } satisfies Pick<LinkStore, "changes"> & { forget: unknown };
}

const NO_CHANGES = { keys: [], rules: false, hasMore: false, isComplete: true };

function positionOf({ snapshot, newest, made }: Now): Position {
  return [snapshot, newest, made ?? ""].join(" ") as Position;
}

function only<Row>({ rows }: Result<Row>): Row {
  const [row] = rows;
  if (row === undefined) throw new Error("A statement that always returns a row returned none");
  return row;
}
