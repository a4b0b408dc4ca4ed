// Rows of visits, read and written by their keys.
import type { Sums } from "../../visits/days/day.ts";
import type { Detail } from "../../visits/days/detail.ts";
import type { Row } from "../../visits/days/slice.ts";
import type { EngineParts } from "../shared/decisions.ts";
import type { Run } from "./connection/database.ts";

/** The row may hold hashes of visitors. */
export const OPEN = 0;
export const CLOSED = 1;
/** Only the sequence remains. */
export const EMPTY = 2;

/** A day of a link. */
export type DayKey = Pick<Row, "code" | "createdMs" | "day">;

export interface VisitRow extends DayKey, Sums {
  readonly source: string;
  /** The source's last slice that is part of the row. */
  readonly sequence: number;
  /** Changes with each write. */
  readonly version: number;
  readonly state: number;
  /** Null in empty rows. */
  readonly detail: Detail | null;
}

/** A new version of a row, and what it adds to the counters of its day. */
export interface Change {
  readonly row: VisitRow;
  readonly added?: Sums | undefined;
}

const COLUMNS = `code, created_ms AS "createdMs", day, source, sequence, version, state, visits, bots, detail`;
/** Looks up each key by itself, whatever the planner's statistics say. */
const find = (filter: string) => `
  SELECT found.* FROM unnest($1::text[], $2::bigint[], $3::integer[]) AS asked (code, created_ms, day)
  CROSS JOIN LATERAL (
    SELECT ${COLUMNS} FROM visits
    WHERE visits.code = asked.code AND visits.created_ms = asked.created_ms AND visits.day = asked.day
      AND ${filter}
  ) AS found`;
const OF_SOURCE = find("source = $4 LIMIT 1");
const LOCK = `${find(`state < ${EMPTY} ORDER BY source FOR UPDATE`)} LIMIT $4`;
/**
 * Belongs into every statement that adds rows, so that additions and erasures wait for each other. PostgreSQL doesn't run a
 * part that nothing refers to, but it takes the part's lock on the table before it reads anything.
 */
export const WAIT_FOR_ERASURE = "erasure AS (SELECT FROM ageing FOR KEY SHARE)";
/**
 * Must come first in an erasure. Otherwise it would miss rows that are added concurrently, and those who add them would miss
 * the erasure.
 */
const STOP_ADDING = "LOCK TABLE ageing IN EXCLUSIVE MODE";
/** Keeps the rows until they are too old, so that no slice counts again. */
const ERASE = `
  UPDATE visits SET state = ${EMPTY}, visits = 0, bots = 0, detail = NULL, version = version + 1
  WHERE code = $1 AND created_ms = $2`;

/**
 * Leaves a row alone that somebody else has written since it was read. Rows of an erased link keep only their sequence.
 * The check costs one look-up for all rows while no link is erased, otherwise one for each.
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

/** Call it in the transaction that erases the link. */
export const eraseVisits: EngineParts["eraseVisits"] = async (run, { code, createdMs }) => {
  await run(STOP_ADDING);
  await run(ERASE, [code, createdMs]);
};

/** Finds the rows of this source on these days, in no order. */
export async function findRows(
  run: Run,
  keys: readonly DayKey[],
  source: string,
): Promise<readonly VisitRow[]> {
  return (await run<VisitRow>(OF_SOURCE, [...columnsOf(keys), source])).rows;
}

/** Locks the first `limit` rows of these days that are not empty, until the transaction ends. */
export async function lockRows(
  run: Run,
  keys: readonly DayKey[],
  limit: number,
): Promise<readonly VisitRow[]> {
  return (await run<VisitRow>(LOCK, [...columnsOf(keys), limit])).rows;
}

/**
 * Writes new versions of rows, except those that somebody else has written since. Returns how many it wrote. Takes distinct
 * rows in the order of their keys, which prevents deadlocks.
 */
export async function writeRows(run: Run, changes: readonly Change[]): Promise<number> {
  const rows = changes.map(({ row }) => row);
  const lengths = rows.map(({ detail }) => detail?.length ?? 0);
  let end = 1;
  const starts = lengths.map((length) => (end += length) - length);
  const { rows: results } = await run<{ written: number }>(WRITE, [
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
  return results[0]?.written ?? 0;
}

/** Sorts keys as PostgreSQL compares them. */
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
