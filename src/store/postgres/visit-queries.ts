// Visits in PostgreSQL: added, read, and closed or forgotten as they age.
import type { LinkKey } from "../../links/code.ts";
import { StoreUnavailable } from "../../links/link-store.ts";
import { closeDetail, type Day, mergeDays, type Sums } from "../../visits/days/day.ts";
import { reportUnreadable } from "../../visits/days/detail.ts";
import { decodeRows, type Row, type Slice } from "../../visits/days/slice.ts";
import type {
  AgeBounds,
  DaySums,
  DayVisits,
  VisitedLink,
  VisitStore,
} from "../../visits/days/visit-store.ts";
import type { Database, Run } from "./connection/database.ts";
import {
  type Change,
  CLOSED,
  dayKey,
  type DayKey,
  EMPTY,
  findRows,
  inOrder,
  lockRows,
  OPEN,
  type VisitRow,
  WAIT_FOR_ERASURE,
  writeRows,
} from "./visit-rows.ts";

/** More than two are needed only if another process adds the same slice concurrently. */
const MAX_TRIES = 10;

/** Merging takes about 25 µs per row. Redirects share the thread and run between these groups. */
const MERGED_AT_ONCE = 50;

/**
 * The cost of a slice for Curt and PostgreSQL together: two statements, and each row. The time it took would depend on the
 * network or a failover, after which visits would wait for up to a minute.
 */
const SLICE_WORK_MS = 0.5;
const ROW_WORK_MS = 0.05;

/** The first query of a day creates its salt. Of two at the same time, the second may find none and tries again. */
const SALT = `
  WITH forgotten AS (DELETE FROM salts WHERE day < $2), added AS (
    INSERT INTO salts (day, salt)
    VALUES ($1, sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())))
    ON CONFLICT (day) DO NOTHING RETURNING salt
  )
  SELECT salt FROM added UNION ALL SELECT salt FROM salts WHERE day = $1`;
const NEWEST_SALT_DAY = "SELECT max(day) AS day FROM salts";

/** Counts visits. {@link createVisitsReader} reads them. */
export function createVisits(database: Database, onFault: (error: unknown) => void) {
  const { run } = database;

  /** Adds rows of one source, in the order of their keys, unless the store has them already. */
  async function addRows(all: readonly Row[], { source, sequence }: Slice): Promise<void> {
    let remaining = all;
    for (let tries = 0; remaining.length > 0; tries++) {
      if (tries === MAX_TRIES) throw new StoreUnavailable("Others write the same visits all the time");
      const stored = new Map((await findRows(run, remaining, source)).map((row) => [dayKey(row), row]));
      remaining = remaining.filter((row) => (stored.get(dayKey(row))?.sequence ?? 0) < sequence);
      if (remaining.length === 0) return;
      const changes: Change[] = [];
      for (const row of remaining) {
        const before = stored.get(dayKey(row));
        const merged = withStored(row, before);
        changes.push({ row: { ...merged, source, sequence }, added: row });
        reportUnreadable(row, [before?.detail, row.detail], merged.detail, onFault);
        if (changes.length % MERGED_AT_ONCE === 0) await Bun.sleep(0);
      }
      // The next read finds those that were not written.
      if ((await writeRows(run, changes)) === remaining.length) return;
    }
  }

  return {
    async add(slice: Slice): Promise<number> {
      const rows = inOrder(decodeRows(slice.rows));
      await addRows(rows, slice);
      return SLICE_WORK_MS + rows.length * ROW_WORK_MS;
    },
    async salt(day: number, oldest: number): Promise<Uint8Array> {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const [row] = (await run<{ salt: Uint8Array }>(SALT, [day, oldest])).rows;
        if (row !== undefined) return row.salt;
      }
      throw new StoreUnavailable("No salt could be kept");
    },
    newestSaltDay: () => newestSaltDay(run),
    age: createVisitsAgeing(database, onFault),
  } satisfies Partial<VisitStore>;
}

export async function newestSaltDay(run: Run): Promise<number> {
  const { rows } = await run<{ day: number | null }>(NEWEST_SALT_DAY);
  return rows[0]?.day ?? Number.POSITIVE_INFINITY;
}

/** A closed row stays closed: merging drops the hashes of added visits. */
function withStored(row: Row, stored: VisitRow | undefined): Omit<VisitRow, "source" | "sequence"> {
  if (stored === undefined) return { ...row, version: 1, state: OPEN };
  const { detail, version, state } = stored;
  if (detail === null) return { ...row, version: version + 1, state: OPEN };
  return { ...row, ...mergeDays({ ...stored, detail }, row), version: version + 1, state };
}

const SUMS = `
  SELECT coalesce(sum(visits), 0)::bigint AS visits, coalesce(sum(bots), 0)::bigint AS bots FROM visits
  WHERE code = $1 AND created_ms = $2`;
/** Excludes day 0, the sum of old days. */
const DAYS = "code = $1 AND created_ms = $2 AND day BETWEEN greatest(1, $3::integer) AND $4 AND state < 2";
const DAY_SUMS = `
  SELECT day, sum(visits)::bigint AS visits, sum(bots)::bigint AS bots FROM visits
  WHERE ${DAYS} GROUP BY day ORDER BY day`;
const DETAILS = `SELECT day, visits, bots, detail FROM visits WHERE ${DAYS} ORDER BY day, source`;

/** Each source has a row of the link. */
const VISITED_LINKS = `
  SELECT code, created_ms AS "createdMs", visits FROM visits WHERE state = ANY ('{${OPEN},${CLOSED}}') AND day = $1 LIMIT $2`;

type DayRange = [code: LinkKey, createdMs: number, firstDay: number, lastDay: number];

/** Reads visits, added up over all sources. */
export function createVisitsReader({ run }: Pick<Database, "run">) {
  return {
    async sums(code: LinkKey, createdMs: number): Promise<Sums> {
      const { rows } = await run<Sums>(SUMS, [code, createdMs]);
      return rows[0] ?? { visits: 0, bots: 0 };
    },
    async days(...range: DayRange) {
      const { rows } = await run<DayVisits>(DETAILS, range);
      return [...Map.groupBy(rows, ({ day }) => day)].map(([day, parts]) => ({ day, ...mergeAll(parts) }));
    },
    async daySums(...range: DayRange) {
      return (await run<DaySums>(DAY_SUMS, range)).rows;
    },
    async visited(day: number, limit: number) {
      return (await run<VisitedLink>(VISITED_LINKS, [day, limit])).rows;
    },
  } satisfies Partial<VisitStore>;
}

/** Merges at least one part. */
export function mergeAll(parts: readonly Day[]): Day {
  const { visits, bots, detail } = parts.reduce(mergeDays);
  return { visits, bots, detail };
}

/** A source that returns later than this may count again: its rows are gone. */
export const KEEP_SEQUENCES_DAYS = 30;

/** Generous, because no request waits for ageing. */
const LIMIT_MS = 10_000;

const TAKE_TURN = "SELECT part FROM ageing WHERE part = 'visits' FOR UPDATE SKIP LOCKED";
/** Doesn't sort: with old statistics of the table, PostgreSQL would sort all rows that are due each time. */
const FIND_OPEN = `
  SELECT code, created_ms AS "createdMs", day FROM visits WHERE state = ${OPEN} AND day < $1
  LIMIT $2`;
/**
 * Adds days to the sum of their link, if it is still there. Sequences stay if the day is not older than $3. Locks the links:
 * replacing or purging one deletes its sum, and would miss one that isn't committed. Leaves days of a link that somebody else has
 * locked for the next time, because waiting could end in a deadlock.
 */
const FORGET = `
  WITH ${WAIT_FOR_ERASURE}, due AS (
    SELECT code, created_ms, day, source, visits, bots FROM visits
    WHERE state = ${CLOSED} AND day > 0 AND day < $1 LIMIT $2 FOR UPDATE SKIP LOCKED
  ), locked AS MATERIALIZED (
    SELECT ids.code, ids.created_ms FROM (SELECT DISTINCT code, created_ms FROM due) AS ids
    CROSS JOIN LATERAL (
      SELECT FROM links WHERE links.code = ids.code AND links.created_ms = ids.created_ms FOR SHARE SKIP LOCKED
    ) AS link
  ), aged AS (
    SELECT due.*, locked.code IS NOT NULL AS has_link FROM due LEFT JOIN locked USING (code, created_ms)
    WHERE locked.code IS NOT NULL
      OR NOT EXISTS (SELECT FROM links WHERE links.code = due.code AND links.created_ms = due.created_ms)
  ), deleted AS (
    DELETE FROM visits USING aged
    WHERE visits.code = aged.code AND visits.created_ms = aged.created_ms AND visits.day = aged.day
      AND visits.source = aged.source AND aged.day < $3
  ), emptied AS (
    UPDATE visits SET state = ${EMPTY}, version = version + 1, visits = 0, bots = 0, detail = NULL FROM aged
    WHERE visits.code = aged.code AND visits.created_ms = aged.created_ms AND visits.day = aged.day
      AND visits.source = aged.source AND aged.day >= $3
  ), summed AS (
    INSERT INTO visits (code, created_ms, day, source, sequence, version, state, visits, bots)
    SELECT code, created_ms, 0, '', 0, 1, ${CLOSED}, sum(visits), sum(bots) FROM aged WHERE has_link
    GROUP BY code, created_ms ORDER BY code, created_ms
    ON CONFLICT (code, created_ms, day, source) DO UPDATE
      SET visits = visits.visits + excluded.visits, bots = visits.bots + excluded.bots
  )
  SELECT count(*) AS aged FROM aged`;
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

function createVisitsAgeing(database: Pick<Database, "within">, onFault: (error: unknown) => void) {
  const { run, transaction } = database.within(LIMIT_MS);

  /** Returns how many open rows there were, up to the limit. None if another process is closing days. */
  async function closeDays(on: Run, before: number, limit: number): Promise<number> {
    const turn = await on(TAKE_TURN);
    if (turn.rows.length === 0) return 0;
    const { rows: due } = await on<DayKey>(FIND_OPEN, [before, limit]);
    if (due.length === 0) return 0;
    const keys = new Map(due.map((key) => [dayKey(key), key]));
    const rows = await lockRows(on, inOrder([...keys.values()]), limit + 1);
    const days = [...Map.groupBy(rows, dayKey).values()];
    // The next call takes the last day, in parts if it alone has too many rows.
    const cut = rows.length > limit ? days.pop() : undefined;
    const changes: Change[] = [];
    let merged = 0;
    for (const day of days.length === 0 && cut !== undefined ? [cut] : days) {
      const details = day.map(({ detail }) => detail);
      for (const row of mergeDay(day, day === cut)) {
        changes.push({ row });
        reportUnreadable(row, details, row.detail, onFault);
      }
      merged += day.length;
      if (merged < MERGED_AT_ONCE) continue;
      merged = 0;
      await Bun.sleep(0);
    }
    await writeRows(on, changes);
    return cut === undefined ? due.length : limit;
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

/**
 * Merges rows of a link's day into one, so that a visitor whom several sources counted is one visitor. Closes the row unless
 * `staysOpen`: more rows of the day follow.
 */
function mergeDay(rows: readonly VisitRow[], staysOpen: boolean): VisitRow[] {
  const mainRow = rows.find(({ state }) => state === CLOSED) ?? rows[0];
  const { detail, ...sums } = mergeAll(rows.filter(hasDetail));
  const merged =
    staysOpen && mainRow?.state === OPEN
      ? { ...sums, detail, state: OPEN }
      : { ...sums, detail: closeDetail(detail), state: CLOSED };
  return rows.map((row) => ({
    ...row,
    version: row.version + 1,
    ...(row === mainRow ? merged : { visits: 0, bots: 0, detail: null, state: EMPTY }),
  }));
}

function hasDetail(row: VisitRow): row is VisitRow & Day {
  return row.detail !== null;
}
