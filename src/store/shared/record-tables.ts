// All records except links and visits: read for an export, and written from one.
import type { KeyedRequest, LinkId, CreatedRecord } from "../../links/link-store.ts";
import type { Note } from "../../moderation/case.ts";
import type { HostRule } from "../../moderation/moderation-store.ts";
import { CASES, type CaseRow, insertCases, insertNotes, type NoteRow, toCase, toNote } from "./cases.ts";
import { ENTRIES, insertEntries, REPLACED, toEntry } from "./decision-entries.ts";
import { keyOf } from "./locked-links.ts";
import type { Kind, RecordOf, ReplacedRow } from "./records.ts";
import { insertInto, list, type Run, type Value } from "./sql.ts";

/** Reads all rows of a statement, in batches. */
export type Scan = <Row>(statement: string) => AsyncIterable<readonly Row[]>;

interface Table<Record> {
  /** `run` reads details of the rows in a batch. */
  read(scan: Scan, run: Run): AsyncIterable<readonly Record[]>;
  /** Returns the number of new records. */
  write(run: Run, records: readonly Record[]): Promise<number>;
}

export type Tables<K extends Kind = Kind> = { readonly [Each in K]: Table<RecordOf[Each]> };

const ADDED = "ON CONFLICT DO NOTHING RETURNING 1 AS added";
const NOTES_OF = 'SELECT code, created_ms AS "createdMs", noted_ms, reason, note FROM notes WHERE code';

/** `toRecord` must take the statement's rows. */
export function reading<Record>(statement: string, toRecord: (row: never) => Record): Table<Record>["read"] {
  return async function* read(scan) {
    for await (const rows of scan<never>(statement)) yield rows.map(toRecord);
  };
}

function writing<Record>(columns: string, valuesOf: (record: Record) => Value[]): Table<Record>["write"] {
  return async (run, records) => (await insertInto(run, columns, records.map(valuesOf), ADDED)).length;
}

export const RECORD_TABLES: Tables<Exclude<Kind, "link" | "day">> = {
  secret: {
    read: reading("SELECT name, secret FROM secrets ORDER BY name", (row: RecordOf["secret"]) => row),
    write: writing("secrets (name, secret)", ({ name, secret }) => [name, secret]),
  },
  host: {
    read: reading(
      `SELECT host, reason, since_ms AS "sinceMs" FROM hosts ORDER BY host`,
      (row: HostRule) => row,
    ),
    write: writing("hosts (host, reason, since_ms)", ({ host, reason, sinceMs }) => [host, reason, sinceMs]),
  },
  entry: {
    read: reading(ENTRIES, toEntry),
    async write(run, entries) {
      return (await insertEntries(run, entries)).length;
    },
  },
  replaced: {
    read: reading(
      `SELECT ${REPLACED} FROM replaced ORDER BY entry, kind, subject`,
      (row: ReplacedRow) => row,
    ),
    write: writing(`replaced (${REPLACED})`, (row) =>
      REPLACED.split(", ").map((column) => row[column as keyof ReplacedRow]),
    ),
  },
  case: {
    async *read(scan, run) {
      for await (const rows of scan<CaseRow>(CASES)) {
        const codes = [...new Set(rows.map(({ code }) => code))];
        const { rows: noteRows } = await run<LinkId & NoteRow>(
          `${NOTES_OF} IN (${list(codes)}) ORDER BY id DESC`,
          codes,
        );
        const notes: Map<string, (LinkId & NoteRow)[]> = Map.groupBy(noteRows, keyOf);
        yield rows.map(toCase).map((one) => ({ ...one, notes: (notes.get(keyOf(one)) ?? []).map(toNote) }));
      }
    },
    async write(run, cases) {
      const added = await insertCases(
        run,
        cases,
        `ON CONFLICT DO NOTHING RETURNING code, created_ms AS "createdMs"`,
      );
      const keys = new Set(added.map(keyOf));
      const notes = cases
        .filter((one) => keys.has(keyOf(one)))
        .flatMap(({ code, createdMs, notes: ofCase }) =>
          ofCase.toReversed().map((note: Note) => ({ code, createdMs, ...note })),
        );
      await insertNotes(run, notes);
      return added.length;
    },
  },
  counter: {
    read: reading(
      "SELECT day, name, count FROM counters ORDER BY day, name",
      (row: RecordOf["counter"]) => row,
    ),
    write: writing("counters (day, name, count)", ({ day, name, count }) => [day, name, count]),
  },
  request: {
    read: reading(
      `SELECT key, body, sent_ms AS "sentMs", made FROM requests ORDER BY sent_ms, key`,
      ({ made, ...request }: KeyedRequest & { made: string }) => ({
        ...request,
        made: JSON.parse(made) as CreatedRecord[],
      }),
    ),
    write: writing("requests (key, body, sent_ms, made)", ({ key, body, sentMs, made }) => [
      key,
      body,
      sentMs,
      JSON.stringify(made),
    ]),
  },
};
