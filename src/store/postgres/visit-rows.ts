// Rows of visits, read and written by their keys.
import type { Sums } from "../../visits/day.ts";
import type { Detail } from "../../visits/detail.ts";
import type { Row } from "../../visits/visit-rows.ts";
import type { EraseVisits } from "../shared/decisions.ts";
import type { Run } from "./connection/database.ts";

/** It may hold hashes of visitors. */
export const OPEN = 0;
export const CLOSED = 1;
/** Nothing is left but the sequence. */
export const EMPTY = 2;

/** A day of a link. */
export type DayKey = Pick<Row, "code" | "createdMs" | "day">;

export interface VisitRow extends DayKey, Sums {
  readonly source: string;
  /** The source's last that is part of the row. */
  readonly sequence: number;
  /** Changes with each write. */
  readonly version: number;
  readonly state: number;
  /** Null in empty rows. */
  readonly detail: Detail | null;
}

/** What a row becomes, and what it adds to the counters of its day. */
export interface Change {
  readonly row: VisitRow;
  readonly added?: Sums | undefined;
}

const COLUMNS = `code, created_ms AS "createdMs", day, source, sequence, version, state, visits, bots, detail`;
/** Each key is looked up by itself, whatever the planner believes of the table. */
const find = (filter: string) => `
  SELECT found.* FROM unnest($1::text[], $2::bigint[], $3::integer[]) AS asked (code, created_ms, day)
  CROSS JOIN LATERAL (
    SELECT ${COLUMNS} FROM visits
    WHERE visits.code = asked.code AND visits.created_ms = asked.created_ms AND visits.day = asked.day
      AND ${filter}
  ) AS found`;
const OF_SOURCE = find("source = $4 LIMIT 1");
const LOCK = find(`state < ${EMPTY} ORDER BY source FOR UPDATE`);
/**
 * For every statement that adds rows: it waits for an erasure that is under way before it looks at anything, and an
 * erasure waits for it. PostgreSQL does not run a part that nothing refers to, but it takes the part's lock on the table.
 */
export const WAIT_FOR_ERASURE = "erasure AS (SELECT FROM ageing FOR KEY SHARE)";
/**
 * Comes first in an erasure. Otherwise, it would not see rows that are added at the same moment, and who adds them would not
 * see that their link is erased.
 */
const STOP_ADDING = "LOCK TABLE ageing IN EXCLUSIVE MODE";
/** The rows stay until they are too old, so that nothing that was sent before counts again. */
const ERASE = `
  UPDATE visits SET state = ${EMPTY}, visits = 0, bots = 0, detail = NULL, version = version + 1
  WHERE code = $1 AND created_ms = $2`;

/**
 * Somebody else may have written a row since it was read: then it stays as it is. Of what is added to an erased link, only
 * the sequence is kept. While no link is erased, that costs one look-up for all rows, otherwise one for each.
 */
const WRITE = `
  WITH ${WAIT_FOR_ERASURE}, given AS (
    SELECT given.*, CASE WHEN added_visits IS NOT NULL AND EXISTS (SELECT FROM links WHERE disabled = 'deleted') THEN
      (SELECT disabled FROM links WHERE links.code = given.code AND links.created_ms = given.created_ms)
    END IS NOT DISTINCT FROM 'deleted' AS is_erased
    FROM unnest(
      $1::text[], $2::bigint[], $3::integer[], $4::text[], $5::bigint[], $6::integer[], $7::smallint[],
      $8::bigint[], $9::bigint[], $10::integer[], $11::integer[], $12::bigint[], $13::bigint[]
    ) AS given (code, created_ms, day, source, sequence, version, state, visits, bots, detail_from, detail_length,
      added_visits, added_bots)
  ), written AS (
    INSERT INTO visits (code, created_ms, day, source, sequence, version, state, visits, bots, detail)
    SELECT code, created_ms, day, source, sequence, version,
      CASE WHEN is_erased THEN ${EMPTY} ELSE state END,
      CASE WHEN is_erased THEN 0 ELSE visits END, CASE WHEN is_erased THEN 0 ELSE bots END,
      CASE WHEN detail_length > 0 AND NOT is_erased THEN substr($14::bytea, detail_from, detail_length) END FROM given
    ON CONFLICT (code, created_ms, day, source) DO UPDATE
      SET sequence = excluded.sequence, version = excluded.version, state = excluded.state,
          visits = excluded.visits, bots = excluded.bots, detail = excluded.detail
      WHERE visits.version = excluded.version - 1
    RETURNING code, created_ms, day, source
  ), added AS (
    SELECT day, sum(added_visits) AS visits, sum(added_bots) AS bots
    FROM given JOIN written USING (code, created_ms, day, source) GROUP BY day
  ), counted AS (
    INSERT INTO counters (day, name, count)
    SELECT day, name, count FROM (
      SELECT day, 'visits' AS name, visits AS count FROM added UNION ALL SELECT day, 'bots', bots FROM added) AS sums
    WHERE count > 0 ORDER BY day, name COLLATE "C"
    ON CONFLICT (day, name) DO UPDATE SET count = counters.count + excluded.count
  )
  SELECT count(*) AS written FROM written`;

/** In the transaction that erases the link. */
export const eraseVisits: EraseVisits = async (run, { code, createdMs }) => {
  await run(STOP_ADDING);
  await run(ERASE, [code, createdMs]);
};

/** What this source has stored of these days, in no order. */
export async function findRows(
  run: Run,
  keys: readonly DayKey[],
  source: string,
): Promise<readonly VisitRow[]> {
  return (await run<VisitRow>(OF_SOURCE, [...columnsOf(keys), source])).rows;
}

/** All rows of these days that are not empty. Nobody else writes them before the transaction ends. */
export async function lockRows(run: Run, keys: readonly DayKey[]): Promise<readonly VisitRow[]> {
  return (await run<VisitRow>(LOCK, columnsOf(keys))).rows;
}

/**
 * Writes rows, as they follow from what was read of them. One that was written by somebody else since is left out. Says how
 * many were written. Give it distinct rows in the order of their keys, so that two who write never wait for each other.
 */
export async function writeRows(run: Run, changes: readonly Change[]): Promise<number> {
  const rows = changes.map(({ row }) => row);
  const lengths = rows.map(({ detail }) => detail?.length ?? 0);
  let end = 1;
  const starts = lengths.map((length) => (end += length) - length);
  const { rows: told } = await run<{ written: number }>(WRITE, [
    ...columnsOf(rows),
    rows.map(({ source }) => source),
    rows.map(({ sequence }) => sequence),
    rows.map(({ version }) => version),
    rows.map(({ state }) => state),
    rows.map(({ visits }) => visits),
    rows.map(({ bots }) => bots),
    starts,
    lengths,
    changes.map(({ added }) => added?.visits),
    changes.map(({ added }) => added?.bots),
    // One value instead of an array, which would be sent and read as hexadecimal text.
    Buffer.concat(rows.map(({ detail }) => detail ?? new Uint8Array())),
  ]);
  return told[0]?.written ?? 0;
}

/** In the order in which PostgreSQL compares keys. */
export function inOrder<Key extends DayKey>(keys: readonly Key[]): Key[] {
  const withBytes = keys.map((key) => ({ key, bytes: Buffer.from(key.code) }));
  withBytes.sort(
    (a, b) => Buffer.compare(a.bytes, b.bytes) || a.key.createdMs - b.key.createdMs || a.key.day - b.key.day,
  );
  return withBytes.map(({ key }) => key);
}

export function dayKey({ code, createdMs, day }: DayKey): string {
  return `${day} ${createdMs} ${code}`;
}

function columnsOf(keys: readonly DayKey[]) {
  return [keys.map(({ code }) => code), keys.map(({ createdMs }) => createdMs), keys.map(({ day }) => day)];
}
