// Adds slices of visits, each in one transaction.
import { type Day, mergeDays } from "../../visits/days/day.ts";
import { type Detail, reportUnreadable } from "../../visits/days/detail.ts";
import { decodeRows, type Row, type Slice } from "../../visits/days/slice.ts";
import type { FileDatabase } from "./file/file-database.ts";

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
const COUNT = `
  INSERT INTO counters (day, name, count) VALUES (?1, ?2, ?3)
  ON CONFLICT (day, name) DO UPDATE SET count = count + ?3`;

export type RowKey = [day: number, code: string, createdMs: number];

export function createAdding(database: FileDatabase, onFault: (error: unknown) => void) {
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
    reportUnreadable(row, [stored.detail, row.detail], detail, onFault);
    changeDay.run(day, code, createdMs, visits, bots, detail);
  }

  /** Adds a slice and records the position of its source, in one transaction. */
  const addAll = database.transaction((slice: Slice): number => {
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

  /** Returns how long it took (ms). */
  return (slice: Slice): number => addAll.immediate(slice);
}

function total(rows: readonly Row[], name: "visits" | "bots"): number {
  return rows.reduce((sum, row) => sum + row[name], 0);
}
