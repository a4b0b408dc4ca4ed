// The writer's half of the visits: runs in the worker thread, one transaction a call.
import type { Database } from "bun:sqlite";

import { close, type DetailText, merge } from "../../visits/day.ts";
import { parseRows, type Row, type Slice } from "../../visits/slice.ts";
import type { AgeBounds } from "../../visits/store.ts";
import type { CountersTable } from "./counters.ts";

/** Sources that nobody has heard of for so long have ended. */
const KEEP_SOURCES_DAYS = 30;

const FIND_SOURCE = "SELECT sequence, rows FROM sources WHERE source = ?1";
const KEEP_SOURCE = `
  INSERT INTO sources (source, sequence, rows, day) VALUES (?1, ?2, ?3, ?4)
  ON CONFLICT (source) DO UPDATE SET sequence = ?2, rows = ?3, day = ?4`;
const FORGET_SOURCES = "DELETE FROM sources WHERE day < ?1";
const FIND_DAY = `
  SELECT rowid, visits, bots, detail FROM visits WHERE day = ?1 AND code = ?2 AND created_ms = ?3`;
const ADD_DAY = `
  INSERT INTO visits (day, code, created_ms, visits, bots, stage, detail) VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6)`;
const CHANGE_DAY = "UPDATE visits SET visits = ?2, bots = ?3, detail = ?4 WHERE rowid = ?1";
// An open day's stage is 0, a closed one's 2. Earlier versions left days at stage 1, which are closed too.
// "stage < 2" makes SQLite use the index.
const CLOSE_DAY = "UPDATE visits SET stage = 2, detail = ?2 WHERE rowid = ?1";
const FIND_OPEN = `
  SELECT rowid, detail FROM visits WHERE stage = 0 AND stage < 2 AND day < ?1 AND day > 0 LIMIT ?2`;
const SUM_UP = `
  INSERT INTO visits (day, code, created_ms, visits, bots, stage)
  SELECT 0, code, created_ms, sum(visits), sum(bots), 2
    FROM (SELECT * FROM visits WHERE day > 0 AND day < ?1 ORDER BY day, code, created_ms LIMIT ?2) AS old
    WHERE EXISTS (SELECT 1 FROM links WHERE links.code = old.code AND links.created_ms = old.created_ms)
    GROUP BY code, created_ms
  ON CONFLICT (day, code, created_ms)
    DO UPDATE SET visits = visits.visits + excluded.visits, bots = visits.bots + excluded.bots`;
const FORGET = `
  DELETE FROM visits WHERE rowid IN
    (SELECT rowid FROM visits WHERE day > 0 AND day < ?1 ORDER BY day, code, created_ms LIMIT ?2)`;
const ADD_SALT = "INSERT INTO salts (day, salt) VALUES (?1, randomblob(32)) ON CONFLICT (day) DO NOTHING";
const FIND_SALT = "SELECT salt FROM salts WHERE day = ?1";
const FORGET_SALTS = "DELETE FROM salts WHERE day < ?1";

interface OpenRow {
  rowid: number;
  detail: DetailText;
}

interface DayRow extends OpenRow {
  visits: number;
  bots: number;
}

export function prepareVisits(database: Database, counters: CountersTable) {
  const findSource = database.prepare<{ sequence: number; rows: number }, [string]>(FIND_SOURCE);
  const keepSource = database.prepare<unknown, [string, number, number, number]>(KEEP_SOURCE);
  const forgetSources = database.prepare<unknown, [number]>(FORGET_SOURCES);
  const findDay = database.prepare<DayRow, [number, string, number]>(FIND_DAY);
  const addDay = database.prepare<unknown, [number, string, number, number, number, string]>(ADD_DAY);
  const changeDay = database.prepare<unknown, [number, number, number, string]>(CHANGE_DAY);
  const findOpen = database.prepare<OpenRow, [number, number]>(FIND_OPEN);
  const closeDay = database.prepare<unknown, [number, string]>(CLOSE_DAY);
  const sumUp = database.prepare<unknown, [number, number]>(SUM_UP);
  const forget = database.prepare<unknown, [number, number]>(FORGET);
  const addSalt = database.prepare<unknown, [number]>(ADD_SALT);
  const findSalt = database.prepare<{ salt: Uint8Array }, [number]>(FIND_SALT);
  const forgetSalts = database.prepare<unknown, [number]>(FORGET_SALTS);

  function addRow(row: Row): void {
    const stored = findDay.get(row.day, row.code, row.createdMs);
    if (stored === null) {
      addDay.run(row.day, row.code, row.createdMs, row.visits, row.bots, row.detail);
      return;
    }
    const { visits, bots, detail } = merge(stored, row);
    changeDay.run(stored.rowid, visits, bots, detail);
  }

  /** How far the source has got is recorded by the transaction that adds. */
  const add = database.transaction((slice: Slice): number => {
    // From here on nobody waits for another's lock.
    const startMs = performance.now();
    const { source, sequence, from, length } = slice;
    const known = findSource.get(source);
    if (known !== null && known.sequence > sequence) return 0;
    const stored = known?.sequence === sequence ? known.rows : 0;
    const rows = parseRows(slice.rows).slice(Math.max(0, stored - from));
    for (const row of rows) addRow(row);
    for (const [day, ofDay] of Map.groupBy(rows, (row) => row.day))
      counters.add(day, { visits: total(ofDay, "visits"), bots: total(ofDay, "bots") });
    const last = rows.at(-1);
    if (last === undefined) return 0;
    if (known === null) forgetSources.run(last.day - KEEP_SOURCES_DAYS);
    keepSource.run(source, sequence, from + length, last.day);
    return performance.now() - startMs;
  });

  const ageAll = database.transaction((bounds: AgeBounds, limit: number): number => {
    const open = findOpen.all(bounds.closeBefore, limit);
    for (const { rowid, detail } of open) closeDay.run(rowid, close(detail));
    sumUp.run(bounds.forgetBefore, limit);
    return Math.max(open.length, forget.run(bounds.forgetBefore, limit).changes);
  });

  const salt = database.transaction((day: number, oldest: number): Uint8Array | undefined => {
    forgetSalts.run(oldest);
    addSalt.run(day);
    return findSalt.get(day)?.salt;
  });

  const statements = [findSource, keepSource, forgetSources, findDay, addDay, changeDay, findOpen, closeDay];
  return {
    /** One transaction; says how long it took. */
    add: (slice: Slice): number => add.immediate(slice),
    age(bounds: AgeBounds, limit: number): number {
      const aged = ageAll.immediate(bounds, limit);
      // What a day's salt and hashes were must not be read from the log of changes either.
      if (forgetSalts.run(bounds.closeBefore).changes > 0) database.run("PRAGMA wal_checkpoint(TRUNCATE)");
      return aged;
    },
    salt: (day: number, oldest: number) => salt.immediate(day, oldest),
    close() {
      for (const statement of [...statements, sumUp, forget, addSalt, findSalt, forgetSalts])
        statement.finalize();
    },
  };
}

function total(rows: readonly Row[], name: "visits" | "bots"): number {
  return rows.reduce((sum, row) => sum + row[name], 0);
}
