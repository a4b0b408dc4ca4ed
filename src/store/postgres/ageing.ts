// Lets visits age: hashes of visitors go when their day is over, and days when they are too old.
import { closeDetail, type Day } from "../../visits/day.ts";
import type { AgeBounds } from "../../visits/store.ts";
import type { Database, Run } from "./connection/database.ts";
import {
  CLOSED,
  dayKey,
  type DayKey,
  EMPTY,
  inOrder,
  lockRows,
  OPEN,
  type VisitRow,
  WAIT_FOR_ERASURE,
  writeRows,
} from "./visit-rows.ts";
import { mergeAll } from "./visits-reader.ts";

/** A source that comes back later than this may count again: its rows are gone. */
const KEEP_SEQUENCES_DAYS = 30;

/** Nobody waits for it. */
const LIMIT_MS = 10_000;

const TAKE_TURN = "SELECT part FROM ageing WHERE part = 'visits' FOR UPDATE SKIP LOCKED";
/** Nothing here is sorted: while the table's statistics are old, PostgreSQL would sort all that is due each time. */
const FIND_OPEN = `
  SELECT code, created_ms AS "createdMs", day FROM visits WHERE state = ${OPEN} AND day < $1
  LIMIT $2`;
/** Adds days to the sum of their link, if it is still there. Sequences stay if the day is not older than $3. */
const FORGET = `
  WITH ${WAIT_FOR_ERASURE}, due AS (
    SELECT code, created_ms, day, source, visits, bots FROM visits
    WHERE state = ${CLOSED} AND day > 0 AND day < $1 LIMIT $2 FOR UPDATE SKIP LOCKED
  ), deleted AS (
    DELETE FROM visits USING due
    WHERE visits.code = due.code AND visits.created_ms = due.created_ms AND visits.day = due.day
      AND visits.source = due.source AND due.day < $3
  ), emptied AS (
    UPDATE visits SET state = ${EMPTY}, version = version + 1, visits = 0, bots = 0, detail = NULL FROM due
    WHERE visits.code = due.code AND visits.created_ms = due.created_ms AND visits.day = due.day
      AND visits.source = due.source AND due.day >= $3
  ), summed AS (
    INSERT INTO visits (code, created_ms, day, source, sequence, version, state, visits, bots)
    SELECT code, created_ms, 0, '', 0, 1, ${CLOSED}, sum(visits), sum(bots) FROM due
    WHERE EXISTS (SELECT FROM links WHERE links.code = due.code AND links.created_ms = due.created_ms)
    GROUP BY code, created_ms ORDER BY code, created_ms
    ON CONFLICT (code, created_ms, day, source) DO UPDATE
      SET visits = visits.visits + excluded.visits, bots = visits.bots + excluded.bots
  )
  SELECT count(*) AS aged FROM due`;
const FORGET_SEQUENCES = `
  WITH due AS (
    SELECT code, created_ms, day, source FROM visits
    WHERE state = ${EMPTY} AND day < $1 LIMIT $2 FOR UPDATE SKIP LOCKED
  ), deleted AS (
    DELETE FROM visits USING due
    WHERE visits.code = due.code AND visits.created_ms = due.created_ms AND visits.day = due.day
      AND visits.source = due.source
  )
  SELECT count(*) AS aged FROM due`;
const FORGET_SALTS = "DELETE FROM salts WHERE day < $1";

interface Aged {
  aged: number;
}

export function createVisitsAgeing(database: Pick<Database, "within">) {
  const { run, transaction } = database.within(LIMIT_MS);

  /** Says how many open rows there were, up to the limit. If somebody else is at it, none. */
  async function closeDays(on: Run, before: number, limit: number): Promise<number> {
    const turn = await on(TAKE_TURN);
    if (turn.rows.length === 0) return 0;
    const { rows: due } = await on<DayKey>(FIND_OPEN, [before, limit]);
    if (due.length === 0) return 0;
    const keys = new Map(due.map((key) => [dayKey(key), key]));
    const rows = await lockRows(on, inOrder([...keys.values()]));
    const days = Map.groupBy(rows, dayKey);
    await writeRows(
      on,
      [...days.values()].flatMap(closeDay).map((row) => ({ row })),
    );
    return due.length;
  }

  async function age(statement: string, ...bounds: number[]): Promise<number> {
    return (await run<Aged>(statement, bounds)).rows[0]?.aged ?? 0;
  }

  return async ({ closeBefore, forgetBefore }: AgeBounds, limit: number): Promise<number> => {
    const keepFrom = closeBefore - KEEP_SEQUENCES_DAYS;
    await run(FORGET_SALTS, [closeBefore]);
    return Math.max(
      await transaction((on) => closeDays(on, closeBefore, limit)),
      await age(FORGET, forgetBefore, limit, keepFrom),
      await age(FORGET_SEQUENCES, keepFrom, limit),
    );
  };
}

/** Merges all rows of a link's day into one, so that a visitor that several sources counted is one visitor. */
function closeDay(rows: readonly VisitRow[]): VisitRow[] {
  const kept = rows.find(({ state }) => state === CLOSED) ?? rows[0];
  const { detail, ...sums } = mergeAll(rows.filter(hasDetail));
  return rows.map((row) => ({
    ...row,
    version: row.version + 1,
    ...(row === kept
      ? { ...sums, detail: closeDetail(detail), state: CLOSED }
      : { visits: 0, bots: 0, detail: null, state: EMPTY }),
  }));
}

function hasDetail(row: VisitRow): row is VisitRow & Day {
  return row.detail !== null;
}
