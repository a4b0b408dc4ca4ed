// Each kind of record in the tables of SQLite. What writes is to be called in a transaction.
import type { Database, SQLQueryBindings } from "bun:sqlite";

import type { Action, HostRule } from "../../guard/store.ts";
import type { Code } from "../../links/code.ts";
import { type Link, NEVER_MS, type Reason } from "../../links/link.ts";
import type { Who } from "../../links/store.ts";
import { merge } from "../../visits/day.ts";
import type { Detail } from "../../visits/detail.ts";
import type { Kind, LinkDay, Part, RecordOf } from "../records.ts";
import { type CaseRow, toCase } from "./case-row.ts";
import { type LinkRow, toLink } from "./link-row.ts";

interface Table<Record> {
  read(after: string, limit: number): Part<Record>;
  write(records: readonly Record[]): void;
}

export type Tables = { readonly [K in Kind]: Table<RecordOf[K]> };

type Key = readonly (string | number)[];

const READ_LINKS = `
  SELECT rowid, code, original_url, target, created_ms, ends_ms, disabled FROM links
  WHERE rowid > ?1 ORDER BY rowid LIMIT ?2`;
const LAST_LINK = "SELECT coalesce(max(rowid), 0) AS rowid FROM links";
/** A link that is there keeps its place among the others. */
const WRITE_LINK = `
  INSERT INTO links (code, original_url, target, created_ms, ends_ms, disabled, rowid)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
  ON CONFLICT (code) DO UPDATE
    SET rowid = iif(links.created_ms = excluded.created_ms, links.rowid, excluded.rowid),
        original_url = excluded.original_url, target = excluded.target, created_ms = excluded.created_ms,
        ends_ms = excluded.ends_ms, disabled = excluded.disabled
    WHERE (links.original_url, links.target, links.created_ms, links.ends_ms, links.disabled)
      IS NOT (excluded.original_url, excluded.target, excluded.created_ms, excluded.ends_ms, excluded.disabled)`;
const daysOf = (table: string, isOpen: string) => `
  SELECT * FROM (
    SELECT day, code, created_ms AS createdMs, visits, bots, CAST(detail AS BLOB) AS detail, ${isOpen} AS isOpen
    FROM ${table} WHERE (day, code, created_ms) > (?1, ?2, ?3) ORDER BY day, code, created_ms LIMIT ?4)`;
/** Rows of earlier versions that have not moved yet may be of the same day. */
const READ_DAYS = `
  ${daysOf("visits", "EXISTS (SELECT 1 FROM open_days WHERE open_days.day = visits.day)")}
  UNION ALL ${daysOf("old_visits", "day > 0")}
  ORDER BY day, code, createdMs LIMIT ?4`;
const WRITE_DAY = `
  INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
  ON CONFLICT (day, code, created_ms) DO UPDATE SET visits = ?4, bots = ?5, detail = ?6
    WHERE (visits, bots, detail) IS NOT (?4, ?5, ?6)`;
const OPEN_DAY = `
  INSERT INTO open_days (day, code, created_ms) VALUES (?1, '', 0)
  ON CONFLICT (day) DO UPDATE SET code = '', created_ms = 0 WHERE code <> ''`;
const READ_SALTS = "SELECT day, salt FROM salts WHERE day > ?1 ORDER BY day LIMIT ?2";
const WRITE_SALT = `
  INSERT INTO salts (day, salt) VALUES (?1, ?2) ON CONFLICT (day) DO UPDATE SET salt = ?2 WHERE salt <> ?2`;
const READ_HOSTS = `
  SELECT host, reason, since_ms AS sinceMs FROM hosts WHERE host > ?1 ORDER BY host LIMIT ?2`;
const WRITE_HOST = `
  INSERT INTO hosts (host, reason, since_ms) VALUES (?1, ?2, ?3)
  ON CONFLICT (host) DO UPDATE SET reason = ?2, since_ms = ?3 WHERE (reason, since_ms) IS NOT (?2, ?3)`;
const READ_ENTRIES = `
  SELECT entry, at_ms, who, action, reason, note, code, created_ms, host FROM journal
  WHERE entry > ?1 ORDER BY entry LIMIT ?2`;
const WRITE_ENTRY = `
  INSERT INTO journal (at_ms, who, action, reason, note, code, created_ms, host)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`;
const READ_CASES = "SELECT * FROM cases WHERE id > ?1 ORDER BY id LIMIT ?2";
const NOTES = "SELECT noted_ms AS atMs, reason, note FROM notes WHERE case_id = ?1 ORDER BY id DESC";
const WRITE_CASE = `
  INSERT INTO cases
    (code, created_ms, is_open, first_ms, last_ms, reports, reasons, pending, disabled_ms, answer, answered_ms)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
  ON CONFLICT (code, created_ms) DO UPDATE
    SET is_open = ?3, first_ms = ?4, last_ms = ?5, reports = ?6, reasons = ?7, pending = ?8, disabled_ms = ?9,
        answer = ?10, answered_ms = ?11
  RETURNING id`;
const FORGET_NOTES = "DELETE FROM notes WHERE case_id = ?1";
const WRITE_NOTE = "INSERT INTO notes (case_id, noted_ms, reason, note) VALUES (?1, ?2, ?3, ?4)";
const READ_REPORTERS = `
  SELECT reporters.day, case_id, reporter, code, created_ms FROM reporters JOIN cases ON cases.id = case_id
  WHERE (reporters.day, case_id, reporter) > (?1, ?2, ?3) ORDER BY reporters.day, case_id, reporter LIMIT ?4`;
const WRITE_REPORTER = `
  INSERT INTO reporters (day, case_id, reporter)
  SELECT ?3, id, ?4 FROM cases WHERE code = ?1 AND created_ms = ?2 ON CONFLICT DO NOTHING`;
const READ_COUNTERS =
  "SELECT day, name, count FROM counters WHERE (day, name) > (?1, ?2) ORDER BY day, name LIMIT ?3";
const WRITE_COUNTER = `
  INSERT INTO counters (day, name, count) VALUES (?1, ?2, ?3)
  ON CONFLICT (day, name) DO UPDATE SET count = ?3 WHERE count <> ?3`;

type PlacedLink = LinkRow & { rowid: number; code: Code };
type DayRow = Omit<LinkDay, "isOpen"> & { isOpen: number };
interface EntryRow {
  entry: number;
  at_ms: number;
  who: Who;
  action: Action;
  reason: Reason | null;
  note: string | null;
  code: Code | null;
  created_ms: number | null;
  host: string | null;
}
interface ReporterRow {
  day: number;
  case_id: number;
  reporter: string;
  code: Code;
  created_ms: number;
}

/** Statements are made with the first use of their table, and finalized when the file is closed. */
export function createTables(database: Database): Tables {
  /** Rows in the order of their keys, after the one with this key. */
  function reading<Row, Record>(
    statement: string,
    { start, keyOf, toRecord }: { start: Key; keyOf(row: Row): Key; toRecord(row: Row): Record },
  ) {
    return (after: string, limit: number): Part<Record> => {
      const key = after === "" ? start : (JSON.parse(after) as Key);
      const rows = database.query<Row, SQLQueryBindings[]>(statement).all(...key, limit);
      const last = rows.at(-1);
      return {
        records: rows.map(toRecord),
        cursor: last === undefined ? after : JSON.stringify(keyOf(last)),
        hasMore: rows.length === limit,
      };
    };
  }

  function writing<Record>(statement: string, columns: (record: Record) => SQLQueryBindings[]) {
    return (records: readonly Record[]): void => {
      const write = database.query<unknown, SQLQueryBindings[]>(statement);
      for (const record of records) write.run(...columns(record));
    };
  }

  const links: Table<Link> = {
    read: reading<PlacedLink, Link>(READ_LINKS, {
      start: [Number.MIN_SAFE_INTEGER],
      keyOf: ({ rowid }) => [rowid],
      toRecord: ({ code, ...row }) => toLink(code, row),
    }),
    write(records) {
      const last = database.query<{ rowid: number }, []>(LAST_LINK).get()?.rowid ?? 0;
      let next = last + 1;
      writing<Link>(WRITE_LINK, ({ code, originalUrl, target, createdMs, endsMs, disabled }) => [
        code,
        originalUrl,
        (target as string) === originalUrl ? null : target,
        createdMs,
        endsMs === NEVER_MS ? null : endsMs,
        disabled ?? null,
        next++,
      ])(records);
    },
  };

  const readDayRows = reading<DayRow, LinkDay>(READ_DAYS, {
    start: [-1, "", 0],
    keyOf: dayKey,
    toRecord: ({ isOpen, ...day }) => ({ ...day, isOpen: isOpen === 1 }),
  });
  const writeDayRows = writing<LinkDay>(WRITE_DAY, ({ day, code, createdMs, visits, bots, detail }) => [
    day,
    code,
    createdMs,
    visits,
    bots,
    detail,
  ]);
  const days: Table<LinkDay> = {
    read(after, limit) {
      const part = readDayRows(after, limit);
      const records = mergeEqual(part.records);
      // The other row of the last day may be in the next part.
      const last = part.hasMore && records.length > 1 ? records.splice(-1) : [];
      const reached = records.at(-1);
      return last.length === 0 || reached === undefined
        ? { ...part, records }
        : { records, cursor: JSON.stringify(dayKey(reached)), hasMore: true };
    },
    write(records) {
      writeDayRows(records);
      const open = database.query<unknown, [number]>(OPEN_DAY);
      for (const day of new Set(records.filter(({ isOpen }) => isOpen).map((record) => record.day)))
        open.run(day);
    },
  };

  const cases: Table<RecordOf["case"]> = {
    read: reading<CaseRow, RecordOf["case"]>(READ_CASES, {
      start: [Number.MIN_SAFE_INTEGER],
      keyOf: ({ id }) => [id],
      toRecord: (row) => ({
        ...toCase(row),
        notes: database.query<RecordOf["case"]["notes"][number], [number]>(NOTES).all(row.id),
      }),
    }),
    write(records) {
      const write = database.query<{ id: number }, SQLQueryBindings[]>(WRITE_CASE);
      const forgetNotes = database.query<unknown, [number]>(FORGET_NOTES);
      const note = database.query<unknown, [number, number, string, string]>(WRITE_NOTE);
      for (const { notes, answer, ...one } of records) {
        const id = write.get(
          one.code,
          one.createdMs,
          answer === undefined ? 1 : 0,
          one.firstMs,
          one.lastMs,
          one.reports,
          JSON.stringify(one.reasons),
          one.pending,
          one.disabledMs ?? null,
          answer?.action ?? null,
          answer?.atMs ?? null,
        )?.id;
        if (id === undefined) throw new Error(`The case of ${one.code} could not be kept`);
        forgetNotes.run(id);
        for (const { atMs, reason, note: text } of notes.toReversed()) note.run(id, atMs, reason, text);
      }
    },
  };

  return {
    link: links,
    day: days,
    case: cases,
    salt: {
      read: reading<RecordOf["salt"], RecordOf["salt"]>(READ_SALTS, {
        start: [-1],
        keyOf: ({ day }) => [day],
        toRecord: (row) => row,
      }),
      write: writing(WRITE_SALT, ({ day, salt }) => [day, salt]),
    },
    host: {
      read: reading<HostRule, HostRule>(READ_HOSTS, {
        start: [""],
        keyOf: ({ host }) => [host],
        toRecord: (row) => row,
      }),
      write: writing(WRITE_HOST, ({ host, reason, sinceMs }) => [host, reason, sinceMs]),
    },
    entry: {
      read: reading<EntryRow, RecordOf["entry"]>(READ_ENTRIES, {
        start: [-1],
        keyOf: ({ entry }) => [entry],
        toRecord: ({ at_ms, who, action, reason, note, code, created_ms, host }) => ({
          atMs: at_ms,
          who,
          action,
          reason: reason ?? undefined,
          note: note ?? undefined,
          code: code ?? undefined,
          createdMs: created_ms ?? undefined,
          host: host ?? undefined,
        }),
      }),
      write: writing(WRITE_ENTRY, ({ atMs, who, action, reason, note, code, createdMs, host }) => [
        atMs,
        who,
        action,
        reason ?? null,
        note ?? null,
        code ?? null,
        createdMs ?? null,
        host ?? null,
      ]),
    },
    reporter: {
      read: reading<ReporterRow, RecordOf["reporter"]>(READ_REPORTERS, {
        start: [-1, 0, ""],
        keyOf: ({ day, case_id, reporter }) => [day, case_id, reporter],
        toRecord: ({ day, reporter, code, created_ms }) => ({ day, reporter, code, createdMs: created_ms }),
      }),
      write: writing(WRITE_REPORTER, ({ code, createdMs, day, reporter }) => [
        code,
        createdMs,
        day,
        reporter,
      ]),
    },
    counter: {
      read: reading<RecordOf["counter"], RecordOf["counter"]>(READ_COUNTERS, {
        start: [-1, ""],
        keyOf: ({ day, name }) => [day, name],
        toRecord: (row) => row,
      }),
      write: writing(WRITE_COUNTER, ({ day, name, count }) => [day, name, count]),
    },
  };
}

function dayKey({ day, code, createdMs }: Pick<LinkDay, "day" | "code" | "createdMs">): Key {
  return [day, code, createdMs];
}

/** Equal days stand together. */
function mergeEqual(days: readonly LinkDay[]): LinkDay[] {
  const merged: LinkDay[] = [];
  for (const day of days) {
    const last = merged.at(-1);
    if (last?.day === day.day && last.code === day.code && last.createdMs === day.createdMs)
      merged[merged.length - 1] = mergeDays(last, day);
    else merged.push(day);
  }
  return merged;
}

function mergeDays(one: LinkDay, other: LinkDay): LinkDay {
  const sums = { visits: one.visits + other.visits, bots: one.bots + other.bots };
  const detail: Detail | null =
    one.detail === null || other.detail === null
      ? null
      : merge({ ...one, detail: one.detail }, { ...other, detail: other.detail }).detail;
  return { ...one, ...sums, detail, isOpen: one.isOpen || other.isOpen };
}
