// The writer's half of the visits: runs in the worker thread, one transaction a call.
import type { Database } from "bun:sqlite";

import { addToDay, closeDay, type DayDetail, emptyDay } from "../../visits/day.ts";
import { readSegment, type SegmentVisits } from "../../visits/fold.ts";
import type { AgeBounds } from "../../visits/store.ts";

/** Links of a segment in one transaction: some milliseconds, which creates may have to wait. */
const MAX_BATCH_LINKS = 500;
/** Journals that nobody has written to for so long have nothing left to fold. */
const KEEP_JOURNALS_HOURS = 24 * 30;

const FIND_JOURNAL = "SELECT sequence, links FROM journals WHERE journal = ?1";
const KEEP_JOURNAL = `
  INSERT INTO journals (journal, sequence, links, hour) VALUES (?1, ?2, ?3, ?4)
  ON CONFLICT (journal) DO UPDATE SET sequence = ?2, links = ?3, hour = ?4`;
const FORGET_JOURNALS = "DELETE FROM journals WHERE hour < ?1";
const FIND_DAY = `
  SELECT rowid, stage, detail FROM visits WHERE day = ?1 AND code = ?2 AND created_ms = ?3`;
const ADD_DAY = `
  INSERT INTO visits (day, code, created_ms, visits, bots, stage, detail) VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6)`;
const CHANGE_DAY = `
  UPDATE visits SET visits = visits + ?2, bots = bots + ?3, stage = ?4, detail = ?5 WHERE rowid = ?1`;
const FIND_AGED = `
  SELECT rowid, detail FROM visits WHERE stage = ?1 AND day < ?2 AND day > 0 LIMIT ?3`;
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

/** What one transaction did of a segment. */
export interface Folded {
  readonly isDone: boolean;
  readonly workMs: number;
}

interface DayRow {
  rowid: number;
  stage: number;
  detail: string | null;
}

export function prepareVisits(database: Database) {
  const findJournal = database.prepare<{ sequence: number; links: number }, [string]>(FIND_JOURNAL);
  const keepJournal = database.prepare<unknown, [string, number, number, number]>(KEEP_JOURNAL);
  const forgetJournals = database.prepare<unknown, [number]>(FORGET_JOURNALS);
  const findDay = database.prepare<DayRow, [number, string, number]>(FIND_DAY);
  const addDay = database.prepare<unknown, [number, string, number, number, number, string]>(ADD_DAY);
  const changeDay = database.prepare<unknown, [number, number, number, number, string]>(CHANGE_DAY);
  const findAged = database.prepare<DayRow, [number, number, number]>(FIND_AGED);
  const sumUp = database.prepare<unknown, [number, number]>(SUM_UP);
  const forget = database.prepare<unknown, [number, number]>(FORGET);
  const addSalt = database.prepare<unknown, [number]>(ADD_SALT);
  const findSalt = database.prepare<{ salt: Uint8Array }, [number]>(FIND_SALT);
  const forgetSalts = database.prepare<unknown, [number]>(FORGET_SALTS);

  let folding: { path: string; segment: SegmentVisits } | undefined;

  function addLink(segment: SegmentVisits, nth: number): void {
    const counted = segment.at(nth);
    const tab = counted.link.indexOf("\t");
    const code = counted.link.slice(0, tab);
    const createdMs = Number(counted.link.slice(tab + 1));
    if (tab < 1 || !Number.isSafeInteger(createdMs)) throw new Error(`${counted.link} names no link`);
    const day = Math.floor(segment.hour / 24);
    const row = findDay.get(day, code, createdMs);
    const detail = row?.detail ? (JSON.parse(row.detail) as DayDetail) : emptyDay();
    addToDay(detail, segment.hour % 24, counted);
    // Visits that come late find the day as it has aged.
    const stage = row?.stage ?? 0;
    if (stage >= 1) closeDay(detail);
    if (stage >= 2) delete detail.hours;
    const text = JSON.stringify(detail);
    if (row === null) addDay.run(day, code, createdMs, counted.visits, counted.bots, text);
    else changeDay.run(row.rowid, counted.visits, counted.bots, stage, text);
  }

  /** Where it goes on is decided by the same transaction that adds. */
  const foldSome = database.transaction((segment: SegmentVisits): Folded => {
    // From here on nobody waits for another's lock.
    const startMs = performance.now();
    const { journal, sequence, hour, length } = segment;
    const known = findJournal.get(journal);
    if (known !== null && known.sequence > sequence) return { isDone: true, workMs: 0 };
    const from = known?.sequence === sequence ? known.links : 0;
    const to = Math.min(from + MAX_BATCH_LINKS, length);
    for (let nth = from; nth < to; nth++) addLink(segment, nth);
    if (known === null) forgetJournals.run(hour - KEEP_JOURNALS_HOURS);
    keepJournal.run(journal, sequence, to, hour);
    return { isDone: to === length, workMs: performance.now() - startMs };
  });

  function ageTo(stage: number, before: number, limit: number, change: (day: DayDetail) => void): number {
    const rows = findAged.all(stage - 1, before, limit);
    for (const { rowid, detail } of rows) {
      const day = JSON.parse(detail ?? "{}") as DayDetail;
      change(day);
      changeDay.run(rowid, 0, 0, stage, JSON.stringify(day));
    }
    return rows.length;
  }

  const age = database.transaction((bounds: AgeBounds, limit: number): number => {
    const closed = ageTo(1, bounds.closeBefore, limit, closeDay);
    const coarse = ageTo(2, bounds.coarseBefore, limit, (day) => delete day.hours);
    sumUp.run(bounds.forgetBefore, limit);
    return Math.max(closed, coarse, forget.run(bounds.forgetBefore, limit).changes);
  });

  const salt = database.transaction((day: number, oldest: number): Uint8Array | undefined => {
    forgetSalts.run(oldest);
    addSalt.run(day);
    return findSalt.get(day)?.salt;
  });

  const statements = [findJournal, keepJournal, forgetJournals, findDay, addDay, changeDay, findAged, sumUp];
  return {
    foldSome(path: string): Folded {
      const segment = folding?.path === path ? folding.segment : readSegment(path);
      // After a failure the file is read anew: another process may finish it meanwhile.
      folding = undefined;
      const folded = foldSome.immediate(segment);
      if (!folded.isDone) folding = { path, segment };
      return folded;
    },
    age(bounds: AgeBounds, limit: number): number {
      const aged = age.immediate(bounds, limit);
      // What a day's salt and hashes were must not be read from the log of changes either.
      if (forgetSalts.run(bounds.closeBefore).changes > 0) database.run("PRAGMA wal_checkpoint(TRUNCATE)");
      return aged;
    },
    salt: (day: number, oldest: number) => salt.immediate(day, oldest),
    close() {
      for (const statement of [...statements, forget, addSalt, findSalt, forgetSalts]) statement.finalize();
    },
  };
}
