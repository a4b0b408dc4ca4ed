import type { Reason } from "../../links/link.ts";
import type { HostRule } from "../../moderation/store.ts";
import type { RecordOf } from "../records.ts";
import { type CaseRow, toCase, toRow } from "./case-row.ts";
import type { EntryRow } from "./guard-reader.ts";
import { reading, type Tables, writing } from "./record-table.ts";
import { bytesOf, textOf } from "./text.ts";

const HOSTS = `SELECT host, reason, since_ms AS "sinceMs" FROM hosts ORDER BY host`;
const ADD_HOSTS = `
  INSERT INTO hosts (host, reason, since_ms) SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
  ON CONFLICT DO NOTHING`;
const ENTRIES = `
  SELECT entry, at_ms, who, action, reason, note, code, created_ms, host FROM journal ORDER BY entry`;
const ADD_ENTRIES = `
  INSERT INTO journal (entry, at_ms, who, action, reason, note, code, created_ms, host)
  SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bytea[], $7::text[],
    $8::bigint[], $9::text[])`;
const CASES = `
  SELECT cases.*, ARRAY(SELECT jsonb_build_object('atMs', noted_ms, 'reason', reason, 'note', encode(note, 'base64'))
    FROM notes WHERE notes.code = cases.code AND notes.created_ms = cases.created_ms ORDER BY id DESC) AS notes
  FROM cases ORDER BY code, created_ms`;
const ADD_CASES = `
  INSERT INTO cases (code, created_ms, is_open, first_ms, last_ms, reports, reasons, pending, disabled_ms, answer,
    answered_ms, version)
  SELECT *, 1 FROM jsonb_to_recordset($1) AS given (
    code text, created_ms bigint, is_open boolean, first_ms bigint, last_ms bigint, reports integer, reasons jsonb,
    pending integer, disabled_ms bigint, answer text, answered_ms bigint)
  ON CONFLICT DO NOTHING`;
const ADD_NOTES = `
  INSERT INTO notes (code, created_ms, id, noted_ms, reason, note)
  SELECT * FROM unnest($1::text[], $2::bigint[], $3::uuid[], $4::bigint[], $5::text[], $6::bytea[])`;
const COUNTERS = "SELECT day, name, count FROM counters ORDER BY day, name";
const ADD_COUNTERS = `
  INSERT INTO counters (day, name, count) SELECT * FROM unnest($1::integer[], $2::text[], $3::bigint[])
  ON CONFLICT DO NOTHING`;

type NotedCase = CaseRow & { notes: { atMs: number; reason: Reason; note: string }[] };

export const GUARD_RECORDS: Tables<"host" | "entry" | "case" | "counter"> = {
  host: {
    read: reading(HOSTS, (row: HostRule) => row),
    write: writing(ADD_HOSTS, (hosts) => [
      hosts.map(({ host }) => host),
      hosts.map(({ reason }) => reason),
      hosts.map(({ sinceMs }) => sinceMs),
    ]),
  },
  entry: {
    read: reading(ENTRIES, ({ at_ms, who, action, reason, note, code, created_ms, host }: EntryRow) => ({
      atMs: at_ms,
      who,
      action,
      reason: reason ?? undefined,
      note: note === null ? undefined : textOf(note),
      code: code === "" ? undefined : code,
      createdMs: created_ms ?? undefined,
      host: host ?? undefined,
    })),
    write: writing(ADD_ENTRIES, (entries) => [
      entries.map(() => Bun.randomUUIDv7()),
      entries.map(({ atMs }) => atMs),
      entries.map(({ who }) => who),
      entries.map(({ action }) => action),
      entries.map(({ reason }) => reason),
      entries.map(({ note }) => (note === undefined ? undefined : bytesOf(note))),
      entries.map(({ code }) => code ?? ""),
      entries.map(({ createdMs }) => createdMs),
      entries.map(({ host }) => host),
    ]),
  },
  case: {
    read: reading(CASES, ({ notes, ...row }: NotedCase) => ({
      ...toCase(row),
      notes: notes.map(({ note, ...more }) => ({ ...more, note: textOf(Buffer.from(note, "base64")) })),
    })),
    async write(run, cases) {
      const { count } = await run(ADD_CASES, [JSON.stringify(cases.map(toRow))]);
      const notes = cases.flatMap((one) => one.notes.toReversed().map((note) => ({ ...one, ...note })));
      await run(ADD_NOTES, [
        notes.map(({ code }) => code),
        notes.map(({ createdMs }) => createdMs),
        notes.map(() => Bun.randomUUIDv7()),
        notes.map(({ atMs }) => atMs),
        notes.map(({ reason }) => reason),
        notes.map(({ note }) => bytesOf(note)),
      ]);
      return count;
    },
  },
  counter: {
    read: reading(COUNTERS, (row: RecordOf["counter"]) => row),
    write: writing(ADD_COUNTERS, (counters) => [
      counters.map(({ day }) => day),
      counters.map(({ name }) => name),
      counters.map(({ count }) => count),
    ]),
  },
};
