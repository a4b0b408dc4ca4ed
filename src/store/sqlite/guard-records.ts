import type { Database, SQLQueryBindings } from "bun:sqlite";

import type { HostRule } from "../../moderation/store.ts";
import type { RecordOf } from "../records.ts";
import { type CaseRow, toCase } from "./case-row.ts";
import type { EntryRow } from "./guard-reader.ts";
import { reading, type Tables, writing } from "./record-table.ts";

const HOSTS = "SELECT host, reason, since_ms AS sinceMs FROM hosts ORDER BY host";
const ADD_HOST = "INSERT INTO hosts (host, reason, since_ms) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
const ENTRIES = `
  SELECT entry, at_ms, who, action, reason, note, code, created_ms, host FROM journal ORDER BY entry`;
const ADD_ENTRY = `
  INSERT INTO journal (at_ms, who, action, reason, note, code, created_ms, host)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`;
const CASES = "SELECT * FROM cases ORDER BY code, created_ms";
const NOTES = "SELECT noted_ms AS atMs, reason, note FROM notes WHERE case_id = ?1 ORDER BY id DESC";
const ADD_CASE = `
  INSERT INTO cases
    (code, created_ms, is_open, first_ms, last_ms, reports, reasons, pending, disabled_ms, answer, answered_ms)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
  ON CONFLICT DO NOTHING RETURNING id`;
const ADD_NOTE = "INSERT INTO notes (case_id, noted_ms, reason, note) VALUES (?1, ?2, ?3, ?4)";
const COUNTERS = "SELECT day, name, count FROM counters ORDER BY day, name";
const ADD_COUNTER = "INSERT INTO counters (day, name, count) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";

export function guardRecords(database: Database): Tables<"host" | "entry" | "case" | "counter"> {
  return {
    case: {
      read: reading(database, CASES, (row: CaseRow) => ({
        ...toCase(row),
        notes: database.query<RecordOf["case"]["notes"][number], [number]>(NOTES).all(row.id),
      })),
      write(records) {
        const add = database.query<{ id: number }, SQLQueryBindings[]>(ADD_CASE);
        const addNote = database.query<unknown, [number, number, string, string]>(ADD_NOTE);
        let added = 0;
        for (const { notes, answer, ...one } of records) {
          const id = add.get(
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
          if (id === undefined) continue;
          added++;
          for (const { atMs, reason, note } of notes.toReversed()) addNote.run(id, atMs, reason, note);
        }
        return added;
      },
    },
    host: {
      read: reading(database, HOSTS, (row: HostRule) => row),
      write: writing(database, ADD_HOST, ({ host, reason, sinceMs }) => [host, reason, sinceMs]),
    },
    entry: {
      read: reading(
        database,
        ENTRIES,
        ({ at_ms, who, action, reason, note, code, created_ms, host }: EntryRow) => ({
          atMs: at_ms,
          who,
          action,
          reason: reason ?? undefined,
          note: note ?? undefined,
          code: code ?? undefined,
          createdMs: created_ms ?? undefined,
          host: host ?? undefined,
        }),
      ),
      write: writing(database, ADD_ENTRY, ({ atMs, who, action, reason, note, code, createdMs, host }) => [
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
    counter: {
      read: reading(database, COUNTERS, (row: RecordOf["counter"]) => row),
      write: writing(database, ADD_COUNTER, ({ day, name, count }) => [day, name, count]),
    },
  };
}
