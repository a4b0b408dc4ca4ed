import type { Database, SQLQueryBindings } from "bun:sqlite";

import type { Code } from "../../links/code.ts";
import type { HostRule } from "../../moderation/store.ts";
import type { RecordOf } from "../records.ts";
import { type CaseRow, toCase } from "../shared/cases.ts";
import type { EntryRow } from "../shared/operator-journal.ts";
import { bytesOf, textOf } from "../shared/sql.ts";
import { reading, type Tables, writing } from "./record-table.ts";

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
const READ_CASES = `
  SELECT * FROM cases WHERE (code, created_ms) > (?1, ?2) ORDER BY code, created_ms LIMIT ?3`;
const NOTES =
  "SELECT noted_ms AS atMs, reason, note FROM notes WHERE code = ?1 AND created_ms = ?2 ORDER BY id DESC";
const WRITE_CASE = `
  INSERT INTO cases
    (code, created_ms, is_open, first_ms, last_ms, reports, reasons, pending, disabled_ms, answer, answered_ms)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
  ON CONFLICT (code, created_ms) DO UPDATE
    SET is_open = ?3, first_ms = ?4, last_ms = ?5, reports = ?6, reasons = ?7, pending = ?8, disabled_ms = ?9,
        answer = ?10, answered_ms = ?11`;
const FORGET_NOTES = "DELETE FROM notes WHERE code = ?1 AND created_ms = ?2";
const WRITE_NOTE = "INSERT INTO notes (code, created_ms, noted_ms, reason, note) VALUES (?1, ?2, ?3, ?4, ?5)";
const READ_REPORTERS = `
  SELECT day, code, created_ms, reporter FROM reporters
  WHERE (day, code, created_ms, reporter) > (?1, ?2, ?3, ?4) ORDER BY day, code, created_ms, reporter LIMIT ?5`;
const WRITE_REPORTER = `
  INSERT INTO reporters (day, code, created_ms, reporter) VALUES (?3, ?1, ?2, ?4) ON CONFLICT DO NOTHING`;
const READ_COUNTERS =
  "SELECT day, name, count FROM counters WHERE (day, name) > (?1, ?2) ORDER BY day, name LIMIT ?3";
const WRITE_COUNTER = `
  INSERT INTO counters (day, name, count) VALUES (?1, ?2, ?3)
  ON CONFLICT (day, name) DO UPDATE SET count = ?3 WHERE count <> ?3`;

interface ReporterRow {
  day: number;
  reporter: string;
  code: Code;
  created_ms: number;
}

export function guardRecords(database: Database): Tables<"host" | "entry" | "case" | "reporter" | "counter"> {
  return {
    case: {
      read: reading<CaseRow, RecordOf["case"]>(database, READ_CASES, {
        start: ["", 0],
        keyOf: ({ code, created_ms }) => [code, created_ms],
        toRecord: (row) => ({
          ...toCase(row),
          notes: database
            .query<RecordOf["case"]["notes"][number], [string, number]>(NOTES)
            .all(row.code, row.created_ms)
            .map((note) => ({ ...note, note: textOf(note.note as never) })),
        }),
      }),
      write(records) {
        const write = database.query<unknown, SQLQueryBindings[]>(WRITE_CASE);
        const forgetNotes = database.query<unknown, [string, number]>(FORGET_NOTES);
        const note = database.query<unknown, SQLQueryBindings[]>(WRITE_NOTE);
        for (const { notes, answer, ...one } of records) {
          write.run(
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
          );
          forgetNotes.run(one.code, one.createdMs);
          for (const { atMs, reason, note: text } of notes.toReversed())
            note.run(one.code, one.createdMs, atMs, reason, bytesOf(text));
        }
      },
    },
    host: {
      read: reading<HostRule, HostRule>(database, READ_HOSTS, {
        start: [""],
        keyOf: ({ host }) => [host],
        toRecord: (row) => row,
      }),
      write: writing(database, WRITE_HOST, ({ host, reason, sinceMs }) => [host, reason, sinceMs]),
    },
    entry: {
      read: reading<EntryRow, RecordOf["entry"]>(database, READ_ENTRIES, {
        start: [-1],
        keyOf: ({ entry }) => [entry],
        toRecord: ({ at_ms, who, action, reason, note, code, created_ms, host }) => ({
          atMs: at_ms,
          who,
          action,
          reason: reason ?? undefined,
          note: note === null ? undefined : textOf(note),
          code: code ?? undefined,
          createdMs: created_ms ?? undefined,
          host: host ?? undefined,
        }),
      }),
      write: writing(database, WRITE_ENTRY, ({ atMs, who, action, reason, note, code, createdMs, host }) => [
        atMs,
        who,
        action,
        reason ?? null,
        note === undefined ? null : bytesOf(note),
        code ?? null,
        createdMs ?? null,
        host ?? null,
      ]),
    },
    reporter: {
      read: reading<ReporterRow, RecordOf["reporter"]>(database, READ_REPORTERS, {
        start: [-1, "", 0, ""],
        keyOf: ({ day, code, created_ms, reporter }) => [day, code, created_ms, reporter],
        toRecord: ({ day, reporter, code, created_ms }) => ({ day, reporter, code, createdMs: created_ms }),
      }),
      write: writing(database, WRITE_REPORTER, ({ code, createdMs, day, reporter }) => [
        code,
        createdMs,
        day,
        reporter,
      ]),
    },
    counter: {
      read: reading<RecordOf["counter"], RecordOf["counter"]>(database, READ_COUNTERS, {
        start: [-1, ""],
        keyOf: ({ day, name }) => [day, name],
        toRecord: (row) => row,
      }),
      write: writing(database, WRITE_COUNTER, ({ day, name, count }) => [day, name, count]),
    },
  };
}
