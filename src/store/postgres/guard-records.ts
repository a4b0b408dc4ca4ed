import type { Reason } from "../../links/link.ts";
import type { HostRule } from "../../moderation/store.ts";
import type { RecordOf } from "../records.ts";
import { type CaseRow, toCase } from "../shared/cases.ts";
import type { EntryRow } from "../shared/operator-journal.ts";
import { bytesOf, textOf } from "../shared/sql.ts";
import { reading, type Tables, writing } from "./record-table.ts";

const READ_HOSTS = `
  SELECT host, reason, since_ms AS "sinceMs" FROM hosts WHERE host > $1 ORDER BY host LIMIT $2`;
const WRITE_HOSTS = `
  INSERT INTO hosts (host, reason, since_ms) SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
  ON CONFLICT (host) DO UPDATE SET reason = excluded.reason, since_ms = excluded.since_ms
    WHERE (hosts.reason, hosts.since_ms) IS DISTINCT FROM (excluded.reason, excluded.since_ms)`;
const READ_ENTRIES = `
  SELECT entry, at_ms, who, action, reason, note, code, created_ms, host FROM journal
  WHERE entry > $1 ORDER BY entry LIMIT $2`;
const WRITE_ENTRIES = `
  INSERT INTO journal (at_ms, who, action, reason, note, code, created_ms, host)
  SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::text[],
    $7::bigint[], $8::text[])`;
const READ_CASES = `
  SELECT cases.*, ARRAY(SELECT jsonb_build_object('atMs', noted_ms, 'reason', reason, 'note', encode(note, 'base64'))
    FROM notes WHERE notes.code = cases.code AND notes.created_ms = cases.created_ms ORDER BY id DESC) AS notes
  FROM cases WHERE (code, created_ms) > ($1, $2) ORDER BY code, created_ms LIMIT $3`;
const WRITE_CASES = `
  INSERT INTO cases (code, created_ms, is_open, first_ms, last_ms, reports, reasons, pending, disabled_ms, answer,
    answered_ms)
  SELECT * FROM jsonb_to_recordset($1) AS given (
    code text, created_ms bigint, is_open boolean, first_ms bigint, last_ms bigint, reports integer, reasons text,
    pending integer, disabled_ms bigint, answer text, answered_ms bigint)
  ON CONFLICT (code, created_ms) DO UPDATE
    SET is_open = excluded.is_open, first_ms = excluded.first_ms, last_ms = excluded.last_ms,
        reports = excluded.reports, reasons = excluded.reasons, pending = excluded.pending,
        disabled_ms = excluded.disabled_ms, answer = excluded.answer, answered_ms = excluded.answered_ms`;
const FORGET_NOTES = `
  DELETE FROM notes USING unnest($1::text[], $2::bigint[]) AS given (code, created_ms)
  WHERE notes.code = given.code AND notes.created_ms = given.created_ms`;
const WRITE_NOTES = `
  INSERT INTO notes (code, created_ms, noted_ms, reason, note)
  SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::bytea[])`;
const READ_REPORTERS = `
  SELECT code, created_ms AS "createdMs", day, reporter FROM reporters
  WHERE (code, created_ms, day, reporter) > ($1, $2, $3, $4) ORDER BY code, created_ms, day, reporter LIMIT $5`;
const WRITE_REPORTERS = `
  INSERT INTO reporters (code, created_ms, day, reporter)
  SELECT * FROM unnest($1::text[], $2::bigint[], $3::integer[], $4::text[]) ON CONFLICT DO NOTHING`;
const READ_COUNTERS = `
  SELECT day, name, count FROM counters WHERE (day, name) > ($1, $2) ORDER BY day, name LIMIT $3`;
const WRITE_COUNTERS = `
  INSERT INTO counters (day, name, count) SELECT * FROM unnest($1::integer[], $2::text[], $3::bigint[])
  ON CONFLICT (day, name) DO UPDATE SET count = excluded.count WHERE counters.count <> excluded.count`;

type NotedCase = CaseRow & { notes: { atMs: number; reason: Reason; note: string }[] };

export const GUARD_RECORDS: Tables<"host" | "entry" | "case" | "reporter" | "counter"> = {
  host: {
    read: reading<HostRule, HostRule>(READ_HOSTS, {
      start: [""],
      keyOf: ({ host }) => [host],
      toRecord: (row) => row,
    }),
    write: writing(WRITE_HOSTS, (hosts) => [
      hosts.map(({ host }) => host),
      hosts.map(({ reason }) => reason),
      hosts.map(({ sinceMs }) => sinceMs),
    ]),
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
        note: note === null ? undefined : textOf(note),
        code: code ?? undefined,
        createdMs: created_ms ?? undefined,
        host: host ?? undefined,
      }),
    }),
    write: writing(WRITE_ENTRIES, (entries) => [
      entries.map(({ atMs }) => atMs),
      entries.map(({ who }) => who),
      entries.map(({ action }) => action),
      entries.map(({ reason }) => reason),
      entries.map(({ note }) => (note === undefined ? undefined : bytesOf(note))),
      entries.map(({ code }) => code),
      entries.map(({ createdMs }) => createdMs),
      entries.map(({ host }) => host),
    ]),
  },
  case: {
    read: reading<NotedCase, RecordOf["case"]>(READ_CASES, {
      start: ["", 0],
      keyOf: ({ code, created_ms }) => [code, created_ms],
      toRecord: ({ notes, ...row }) => ({
        ...toCase(row),
        notes: notes.map(({ note, ...more }) => ({ ...more, note: textOf(Buffer.from(note, "base64")) })),
      }),
    }),
    async write(run, cases) {
      await run(WRITE_CASES, [JSON.stringify(cases.map(rowOf))]);
      await run(FORGET_NOTES, [cases.map(({ code }) => code), cases.map(({ createdMs }) => createdMs)]);
      const notes = cases.flatMap((one) => one.notes.toReversed().map((note) => ({ ...one, ...note })));
      await run(WRITE_NOTES, [
        notes.map(({ code }) => code),
        notes.map(({ createdMs }) => createdMs),
        notes.map(({ atMs }) => atMs),
        notes.map(({ reason }) => reason),
        notes.map(({ note }) => bytesOf(note)),
      ]);
    },
  },
  reporter: {
    read: reading<RecordOf["reporter"], RecordOf["reporter"]>(READ_REPORTERS, {
      start: ["", 0, -1, ""],
      keyOf: ({ code, createdMs, day, reporter }) => [code, createdMs, day, reporter],
      toRecord: (row) => row,
    }),
    write: writing(WRITE_REPORTERS, (reporters) => [
      reporters.map(({ code }) => code),
      reporters.map(({ createdMs }) => createdMs),
      reporters.map(({ day }) => day),
      reporters.map(({ reporter }) => reporter),
    ]),
  },
  counter: {
    read: reading<RecordOf["counter"], RecordOf["counter"]>(READ_COUNTERS, {
      start: [-1, ""],
      keyOf: ({ day, name }) => [day, name],
      toRecord: (row) => row,
    }),
    write: writing(WRITE_COUNTERS, (counters) => [
      counters.map(({ day }) => day),
      counters.map(({ name }) => name),
      counters.map(({ count }) => count),
    ]),
  },
};

function rowOf({ answer, ...one }: RecordOf["case"]) {
  return {
    code: one.code,
    created_ms: one.createdMs,
    is_open: answer === undefined,
    first_ms: one.firstMs,
    last_ms: one.lastMs,
    reports: one.reports,
    reasons: JSON.stringify(one.reasons),
    pending: one.pending,
    disabled_ms: one.disabledMs,
    answer: answer?.action,
    answered_ms: answer?.atMs,
  };
}
