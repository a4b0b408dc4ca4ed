// Each kind of record in the tables of PostgreSQL. What writes is to be called in a transaction.
import type { QueryResultRow } from "pg";

import { siteOf } from "../../guard/site.ts";
import type { Action, HostRule } from "../../guard/store.ts";
import type { Code } from "../../links/code.ts";
import { type Link, NEVER_MS, type Reason } from "../../links/link.ts";
import type { Who } from "../../links/store.ts";
import type { Detail } from "../../visits/detail.ts";
import type { Kind, LinkDay, Part, RecordOf } from "../records.ts";
import { type CaseRow, toCase, toRow } from "./case-row.ts";
import type { Run, Value } from "./database.ts";
import { LINK_COLUMNS, type LinkRow, toLink } from "./link-row.ts";
import { bytesOf, textOf } from "./text.ts";
import { CLOSED, EMPTY, OPEN } from "./visit-rows.ts";
import { mergeAll } from "./visits-reader.ts";

interface Table<Record> {
  read(run: Run, after: string, limit: number): Promise<Part<Record>>;
  write(run: Run, records: readonly Record[]): Promise<void>;
}

export type Tables = { readonly [K in Kind]: Table<RecordOf[K]> };

type Key = readonly (string | number)[];

const READ_LINKS = `
  SELECT ${LINK_COLUMNS}, place FROM links
  WHERE place >= $1 AND (place > $1 OR code > $2) ORDER BY place, code LIMIT $3`;
/** A link that is there keeps its place among the others. */
const WRITE_LINKS = `
  INSERT INTO links (code, original_url, target, created_ms, ends_ms, disabled, site, place)
  SELECT code, original_url, target, created_ms, ends_ms, disabled, site, last.place + nth
  FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::integer[])
      WITH ORDINALITY AS link (code, original_url, target, created_ms, ends_ms, disabled, site, nth),
    (SELECT coalesce(max(place), 0) AS place FROM links) AS last
  ON CONFLICT (code) DO UPDATE
    SET original_url = excluded.original_url, target = excluded.target, created_ms = excluded.created_ms,
        ends_ms = excluded.ends_ms, disabled = excluded.disabled, site = excluded.site,
        place = CASE WHEN links.created_ms = excluded.created_ms THEN links.place ELSE excluded.place END
    WHERE (links.original_url, links.target, links.created_ms, links.ends_ms, links.disabled) IS DISTINCT FROM
      (excluded.original_url, excluded.target, excluded.created_ms, excluded.ends_ms, excluded.disabled)`;
const READ_DAYS = `
  SELECT code, created_ms AS "createdMs", day, sum(visits)::bigint AS visits, sum(bots)::bigint AS bots,
    bool_or(state = ${OPEN}) AS "isOpen", array_agg(detail ORDER BY source) FILTER (WHERE detail IS NOT NULL) AS details
  FROM visits WHERE state < ${EMPTY} AND (code, created_ms, day) > ($1, $2, $3)
  GROUP BY code, created_ms, day ORDER BY code, created_ms, day LIMIT $4`;
/** They belong to no source that counts. */
const WRITE_DAYS = `
  INSERT INTO visits (code, created_ms, day, source, sequence, version, state, visits, bots, detail)
  SELECT code, created_ms, day, '', 0, 1, state, visits, bots,
    CASE WHEN detail_length > 0 THEN substr($8::bytea, detail_from, detail_length) END
  FROM unnest($1::text[], $2::bigint[], $3::integer[], $4::smallint[], $5::bigint[], $6::bigint[], $7::integer[],
    $9::integer[]) AS given (code, created_ms, day, state, visits, bots, detail_length, detail_from)
  ON CONFLICT (code, created_ms, day, source) DO UPDATE
    SET version = visits.version + 1, state = excluded.state, visits = excluded.visits, bots = excluded.bots,
        detail = excluded.detail
    WHERE (visits.state, visits.visits, visits.bots, visits.detail) IS DISTINCT FROM
      (excluded.state, excluded.visits, excluded.bots, excluded.detail)`;
const READ_SALTS = "SELECT day, salt FROM salts WHERE day > $1 ORDER BY day LIMIT $2";
const WRITE_SALTS = `
  INSERT INTO salts (day, salt) SELECT * FROM unnest($1::integer[], $2::bytea[])
  ON CONFLICT (day) DO UPDATE SET salt = excluded.salt WHERE salts.salt <> excluded.salt`;
const READ_HOSTS = `
  SELECT host, reason, since_ms AS "sinceMs" FROM hosts WHERE host > $1 ORDER BY host LIMIT $2`;
const WRITE_HOSTS = `
  INSERT INTO hosts (host, reason, since_ms) SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
  ON CONFLICT (host) DO UPDATE SET reason = excluded.reason, since_ms = excluded.since_ms
    WHERE (hosts.reason, hosts.since_ms) IS DISTINCT FROM (excluded.reason, excluded.since_ms)`;
const READ_ENTRIES = `
  SELECT entry, at_ms, who, action, reason, note, code, created_ms, host FROM journal
  WHERE entry > $1::uuid ORDER BY entry LIMIT $2`;
const WRITE_ENTRIES = `
  INSERT INTO journal (entry, at_ms, who, action, reason, note, code, created_ms, host)
  SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bytea[], $7::text[],
    $8::bigint[], $9::text[])`;
const READ_CASES = `
  SELECT cases.*, ARRAY(SELECT jsonb_build_object('atMs', noted_ms, 'reason', reason, 'note', encode(note, 'base64'))
    FROM notes WHERE notes.code = cases.code AND notes.created_ms = cases.created_ms ORDER BY id DESC) AS notes
  FROM cases WHERE (code, created_ms) > ($1, $2) ORDER BY code, created_ms LIMIT $3`;
const WRITE_CASES = `
  INSERT INTO cases (code, created_ms, is_open, first_ms, last_ms, reports, reasons, pending, disabled_ms, answer,
    answered_ms, version)
  SELECT *, 1 FROM jsonb_to_recordset($1) AS given (
    code text, created_ms bigint, is_open boolean, first_ms bigint, last_ms bigint, reports integer, reasons jsonb,
    pending integer, disabled_ms bigint, answer text, answered_ms bigint)
  ON CONFLICT (code, created_ms) DO UPDATE
    SET is_open = excluded.is_open, first_ms = excluded.first_ms, last_ms = excluded.last_ms,
        reports = excluded.reports, reasons = excluded.reasons, pending = excluded.pending,
        disabled_ms = excluded.disabled_ms, answer = excluded.answer, answered_ms = excluded.answered_ms,
        version = cases.version + 1`;
const FORGET_NOTES = `
  DELETE FROM notes USING unnest($1::text[], $2::bigint[]) AS given (code, created_ms)
  WHERE notes.code = given.code AND notes.created_ms = given.created_ms`;
const WRITE_NOTES = `
  INSERT INTO notes (code, created_ms, id, noted_ms, reason, note)
  SELECT * FROM unnest($1::text[], $2::bigint[], $3::uuid[], $4::bigint[], $5::text[], $6::bytea[])`;
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

type PlacedLink = LinkRow & { place: number };
type DayRow = Omit<LinkDay, "detail"> & { details: Detail[] | null };
type NotedCase = CaseRow & { notes: { atMs: number; reason: Reason; note: string }[] };
interface EntryRow {
  entry: string;
  at_ms: number;
  who: Who;
  action: Action;
  reason: Reason | null;
  note: Uint8Array | null;
  code: Code | "";
  created_ms: number | null;
  host: string | null;
}

const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";

export const TABLES: Tables = {
  link: {
    read: reading<PlacedLink, Link>(READ_LINKS, {
      start: [-1, ""],
      keyOf: ({ place, code }) => [place, code],
      toRecord: toLink,
    }),
    write: writing(WRITE_LINKS, (links) => [
      links.map(({ code }) => code),
      links.map(({ originalUrl }) => originalUrl),
      links.map(({ originalUrl, target }) => ((target as string) === originalUrl ? null : target)),
      links.map(({ createdMs }) => createdMs),
      links.map(({ endsMs }) => (endsMs === NEVER_MS ? null : endsMs)),
      links.map(({ disabled }) => disabled),
      links.map(({ target, disabled }) => (disabled === "deleted" ? null : siteOf(target))),
    ]),
  },
  day: {
    read: reading<DayRow, LinkDay>(READ_DAYS, {
      start: ["", 0, -1],
      keyOf: ({ code, createdMs, day }) => [code, createdMs, day],
      toRecord: ({ details, ...day }) => ({
        ...day,
        detail: details === null ? null : mergeDetails(details),
      }),
    }),
    write: writing(WRITE_DAYS, (days) => {
      const lengths = days.map(({ detail }) => detail?.length ?? 0);
      let end = 1;
      const starts = lengths.map((length) => (end += length) - length);
      return [
        days.map(({ code }) => code),
        days.map(({ createdMs }) => createdMs),
        days.map(({ day }) => day),
        days.map(({ isOpen }) => (isOpen ? OPEN : CLOSED)),
        days.map(({ visits }) => visits),
        days.map(({ bots }) => bots),
        lengths,
        // One value instead of an array, which would be sent and read as hexadecimal text.
        Buffer.concat(days.map(({ detail }) => detail ?? new Uint8Array())),
        starts,
      ];
    }),
  },
  salt: {
    read: reading<RecordOf["salt"], RecordOf["salt"]>(READ_SALTS, {
      start: [-1],
      keyOf: ({ day }) => [day],
      toRecord: (row) => row,
    }),
    write: writing(WRITE_SALTS, (salts) => [salts.map(({ day }) => day), salts.map(({ salt }) => salt)]),
  },
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
      start: [BEFORE_ALL],
      keyOf: ({ entry }) => [entry],
      toRecord: ({ at_ms, who, action, reason, note, code, created_ms, host }) => ({
        atMs: at_ms,
        who,
        action,
        reason: reason ?? undefined,
        note: note === null ? undefined : textOf(note),
        code: code === "" ? undefined : code,
        createdMs: created_ms ?? undefined,
        host: host ?? undefined,
      }),
    }),
    write: writing(WRITE_ENTRIES, (entries) => [
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
    read: reading<NotedCase, RecordOf["case"]>(READ_CASES, {
      start: ["", 0],
      keyOf: ({ code, created_ms }) => [code, created_ms],
      toRecord: ({ notes, ...row }) => ({
        ...toCase(row),
        notes: notes.map(({ note, ...more }) => ({ ...more, note: textOf(Buffer.from(note, "base64")) })),
      }),
    }),
    async write(run, cases) {
      await run(WRITE_CASES, [JSON.stringify(cases.map(toRow))]);
      await run(FORGET_NOTES, [cases.map(({ code }) => code), cases.map(({ createdMs }) => createdMs)]);
      const notes = cases.flatMap((one) => one.notes.toReversed().map((note) => ({ ...one, ...note })));
      await run(WRITE_NOTES, [
        notes.map(({ code }) => code),
        notes.map(({ createdMs }) => createdMs),
        notes.map(() => Bun.randomUUIDv7()),
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

/** Rows in the order of their keys, after the one with this key. */
function reading<Row extends object, Record>(
  statement: string,
  { start, keyOf, toRecord }: { start: Key; keyOf(row: Row): Key; toRecord(row: Row): Record },
): Table<Record>["read"] {
  return async (run, after, limit) => {
    const key = after === "" ? start : (JSON.parse(after) as Key);
    const rows = (await run<QueryResultRow>(statement, [...key, limit])).rows as readonly Row[];
    const last = rows.at(-1);
    return {
      records: rows.map(toRecord),
      cursor: last === undefined ? after : JSON.stringify(keyOf(last)),
      hasMore: rows.length === limit,
    };
  };
}

function writing<Record>(
  statement: string,
  columnsOf: (records: readonly Record[]) => Value[],
): Table<Record>["write"] {
  return async (run, records) => void (await run(statement, columnsOf(records)));
}

/** The sums are added up already. */
function mergeDetails(details: readonly Detail[]): Detail {
  return mergeAll(details.map((detail) => ({ visits: 0, bots: 0, detail }))).detail;
}
