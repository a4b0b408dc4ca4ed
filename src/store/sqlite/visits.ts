// The writer's half of the visits: runs in the worker thread, one transaction a call.
import { type Day, mergeDays, closeDetail } from "../../visits/days/day.ts";
import type { Detail } from "../../visits/days/detail.ts";
import type { AgeBounds } from "../../visits/days/store.ts";
import { decodeRows, type Row, type Slice } from "../../visits/days/visit-rows.ts";
import type { EraseVisits } from "../shared/decisions.ts";
import type { FileDatabase } from "./file/file.ts";

/** Sources without visits for this long have ended. */
export const KEEP_SOURCES_DAYS = 30;
/** How many ended sources a new one removes. */
const MAX_FORGOTTEN = 100;

const FIND_SOURCE = "SELECT sequence, rows FROM sources WHERE source = ?1";
const KEEP_SOURCE = `
  INSERT INTO sources (source, sequence, rows, day) VALUES (?1, ?2, ?3, ?4)
  ON CONFLICT (source) DO UPDATE SET sequence = ?2, rows = ?3, day = ?4`;
const FORGET_SOURCES = `
  DELETE FROM sources WHERE source IN (SELECT source FROM sources WHERE day < ?1 ORDER BY day LIMIT ${MAX_FORGOTTEN})`;
const FIND_DAY = "SELECT visits, bots, detail FROM visits WHERE day = ?1 AND code = ?2 AND created_ms = ?3";
const ADD_DAY = `
  INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
  ON CONFLICT (day, code, created_ms) DO NOTHING`;
const REMOVE_DAY = "DELETE FROM visits WHERE day = ?1 AND code = ?2 AND created_ms = ?3";
const FIND_ANY_ERASED = "SELECT 1 FROM links WHERE disabled = 'deleted' LIMIT 1";
const FIND_ERASED = "SELECT 1 FROM links WHERE code = ?1 AND created_ms = ?2 AND disabled = 'deleted'";
const CHANGE_DAY = `
  UPDATE visits SET visits = ?4, bots = ?5, detail = ?6 WHERE day = ?1 AND code = ?2 AND created_ms = ?3`;
/** Closing starts again at the first row of the day. Closed rows stay as they are. */
const OPEN_DAY = `
  INSERT INTO open_days (day, code, created_ms) VALUES (?1, '', 0)
  ON CONFLICT (day) DO UPDATE SET code = '', created_ms = 0 WHERE code <> ''`;
const FIND_OPEN = `
  SELECT day, code, created_ms AS createdMs FROM open_days WHERE day < ?1 ORDER BY day LIMIT 1`;
const ROWS_AFTER = `
  SELECT code, created_ms AS createdMs, detail FROM visits
  WHERE day = ?1 AND (code, created_ms) > (?2, ?3) ORDER BY code, created_ms LIMIT ?4`;
const CLOSE_ROW = "UPDATE visits SET detail = ?4 WHERE day = ?1 AND code = ?2 AND created_ms = ?3";
const KEEP_POSITION = "UPDATE open_days SET code = ?2, created_ms = ?3 WHERE day = ?1";
const CLOSE_DAY = "DELETE FROM open_days WHERE day = ?1";
const FORGOTTEN = "WHERE day > 0 AND day < ?1 ORDER BY day, code, created_ms LIMIT ?2";
const SUM_UP = `
  INSERT INTO visits (day, code, created_ms, visits, bots)
  SELECT 0, code, created_ms, sum(visits), sum(bots) FROM (SELECT * FROM visits ${FORGOTTEN}) AS old
    WHERE EXISTS (SELECT 1 FROM links WHERE links.code = old.code AND links.created_ms = old.created_ms)
    GROUP BY code, created_ms
  ON CONFLICT (day, code, created_ms)
    DO UPDATE SET visits = visits.visits + excluded.visits, bots = visits.bots + excluded.bots`;
const FORGET = `
  DELETE FROM visits
  WHERE (day, code, created_ms) IN (SELECT day, code, created_ms FROM visits ${FORGOTTEN})`;
const ADD_SALT = "INSERT INTO salts (day, salt) VALUES (?1, randomblob(32)) ON CONFLICT (day) DO NOTHING";
const FIND_SALT = "SELECT salt FROM salts WHERE day = ?1";
const FORGET_SALTS = "DELETE FROM salts WHERE day < ?1";
const COUNT = `
  INSERT INTO counters (day, name, count) VALUES (?1, ?2, ?3)
  ON CONFLICT (day, name) DO UPDATE SET count = count + ?3`;

interface OpenDay {
  day: number;
  /** The row up to which all are closed. */
  code: string;
  createdMs: number;
}

type RowKey = [day: number, code: string, createdMs: number];
type Ageing = [before: number, limit: number];

/**
 * The days from `first` to `last` on which any link has visits, as `span (day)`. Rows are ordered by day, so a query that looks
 * one link up on each of these days reads few rows, however far apart they are.
 */
export const daysWithVisits = (first: string, last: string) => `
  span (day) AS (
    SELECT min(day) FROM visits WHERE day BETWEEN ${first} AND ${last}
    UNION ALL SELECT (SELECT min(day) FROM visits WHERE visits.day > span.day AND visits.day <= ${last}) FROM span
      WHERE span.day IS NOT NULL)`;
/** Later than any day in a store. */
export const LAST_DAY = 2_932_896;

/** Day 0 holds the sums of old days. */
const ERASE = `
  WITH RECURSIVE ${daysWithVisits("0", String(LAST_DAY))}
  DELETE FROM visits WHERE day IN (SELECT day FROM span) AND code = $1 AND created_ms = $2`;

/** Visits that arrive later are dropped, because their link is erased. */
export const eraseVisits: EraseVisits = async (run, { code, createdMs }) => {
  await run(ERASE, [code, createdMs]);
};

export function createVisits(database: FileDatabase) {
  const findSource = database.statement<{ sequence: number; rows: number }, [string]>(FIND_SOURCE);
  const keepSource = database.statement<unknown, [string, number, number, number]>(KEEP_SOURCE);
  const forgetSources = database.statement<unknown, [number]>(FORGET_SOURCES);
  const findDay = database.statement<Day, RowKey>(FIND_DAY);
  const addDay = database.statement<unknown, [...RowKey, number, number, Detail]>(ADD_DAY);
  const changeDay = database.statement<unknown, [...RowKey, number, number, Detail]>(CHANGE_DAY);
  const removeDay = database.statement<unknown, RowKey>(REMOVE_DAY);
  const findAnyErased = database.statement<unknown, []>(FIND_ANY_ERASED);
  const findErased = database.statement<unknown, [string, number]>(FIND_ERASED);
  const openDay = database.statement<unknown, [number]>(OPEN_DAY);
  const findOpen = database.statement<OpenDay, [number]>(FIND_OPEN);
  const rowsAfter = database.statement<Pick<Row, "code" | "createdMs" | "detail">, [...RowKey, number]>(
    ROWS_AFTER,
  );
  const closeRow = database.statement<unknown, [...RowKey, Detail]>(CLOSE_ROW);
  const keepPosition = database.statement<unknown, RowKey>(KEEP_POSITION);
  const closeDay = database.statement<unknown, [number]>(CLOSE_DAY);
  const sumUp = database.statement<unknown, Ageing>(SUM_UP);
  const forget = database.statement<unknown, Ageing>(FORGET);
  const addSalt = database.statement<unknown, [number]>(ADD_SALT);
  const findSalt = database.statement<{ salt: Uint8Array }, [number]>(FIND_SALT);
  const forgetSalts = database.statement<unknown, [number]>(FORGET_SALTS);
  const count = database.statement<unknown, [number, string, number]>(COUNT);

  /**
   * Tries to insert first, because most links have no row of the day yet. Nor does an erased link, so only new rows need the
   * check, which costs about 4 µs each.
   */
  function addRow(row: Row, mayBeErased: boolean): void {
    const { day, code, createdMs } = row;
    if (addDay.run(day, code, createdMs, row.visits, row.bots, row.detail).changes === 1) {
      if (mayBeErased && findErased.get(code, createdMs) !== null) removeDay.run(day, code, createdMs);
      return;
    }
    const stored = findDay.get(day, code, createdMs);
    if (stored === null) throw new Error(`The row of ${code} is there and cannot be found`);
    const { visits, bots, detail } = mergeDays(stored, row);
    changeDay.run(day, code, createdMs, visits, bots, detail);
  }

  /** Adds a slice and records the position of its source, in one transaction. */
  const add = database.transaction((slice: Slice): number => {
    // From here on, the transaction waits for no other process.
    const startMs = performance.now();
    const { source, sequence, from, length } = slice;
    const known = findSource.get(source);
    if (known !== null && known.sequence > sequence) return 0;
    const stored = known?.sequence === sequence ? known.rows : 0;
    const rows = decodeRows(slice.rows).slice(Math.max(0, stored - from));
    const mayBeErased = findAnyErased.get() !== null;
    for (const row of rows) addRow(row, mayBeErased);
    for (const [day, ofDay] of Map.groupBy(rows, (row) => row.day)) {
      openDay.run(day);
      for (const name of ["visits", "bots"] as const) {
        const sum = total(ofDay, name);
        if (sum > 0) count.run(day, name, sum);
      }
    }
    const last = rows.at(-1);
    if (last === undefined) return 0;
    if (known === null) forgetSources.run(last.day - KEEP_SOURCES_DAYS);
    keepSource.run(source, sequence, from + length, last.day);
    return performance.now() - startMs;
  });

  /** Returns how many rows it looked at, including closed ones between late ones. */
  function closeDays(before: number, limit: number): number {
    let looked = 0;
    for (let open = findOpen.get(before); open !== null && looked < limit; open = findOpen.get(before)) {
      const { day, code, createdMs } = open;
      const rows = rowsAfter.all(day, code, createdMs, limit - looked);
      for (const row of rows) {
        const closed = closeDetail(row.detail);
        if (!Buffer.from(closed).equals(row.detail)) closeRow.run(day, row.code, row.createdMs, closed);
      }
      looked += rows.length;
      const last = rows.at(-1);
      if (looked < limit || last === undefined) closeDay.run(day);
      else keepPosition.run(day, last.code, last.createdMs);
    }
    return looked;
  }

  /** The log may still contain deleted salts and hashes. */
  let isLogToEmpty = false;

  function forgetSaltsBefore(day: number): void {
    const { changes } = forgetSalts.run(day);
    isLogToEmpty ||= changes > 0;
  }

  const ageAll = database.transaction(({ closeBefore, forgetBefore }: AgeBounds, limit: number): number => {
    const closed = closeDays(closeBefore, limit);
    isLogToEmpty ||= closed > 0;
    sumUp.run(forgetBefore, limit);
    const { changes: forgotten } = forget.run(forgetBefore, limit);
    forgetSaltsBefore(closeBefore);
    return Math.max(closed, forgotten);
  });

  const salt = database.transaction((day: number, oldest: number): Uint8Array | undefined => {
    forgetSaltsBefore(oldest);
    addSalt.run(day);
    return findSalt.get(day)?.salt;
  });

  return {
    /** Adds a slice in one transaction. Returns how long it took (ms). */
    add: (slice: Slice): number => add.immediate(slice),
    age(bounds: AgeBounds, limit: number): number {
      const aged = ageAll.immediate(bounds, limit);
      // Fails while somebody reads the log. Then the next call empties it.
      if (isLogToEmpty && aged < limit) isLogToEmpty = !database.emptyLog();
      return aged;
    },
    salt: (day: number, oldest: number) => salt.immediate(day, oldest),
  };
}

function total(rows: readonly Row[], name: "visits" | "bots"): number {
  return rows.reduce((sum, row) => sum + row[name], 0);
}
