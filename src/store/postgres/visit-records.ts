import type { QueryResultRow } from "pg";

import type { Detail } from "../../visits/detail.ts";
import type { LinkDay, RecordOf } from "../records.ts";
import type { Run } from "./connection/database.ts";
import { reading, type Tables, writing } from "./record-table.ts";
import { CLOSED, EMPTY, OPEN } from "./visit-rows.ts";
import { mergeAll } from "./visits-reader.ts";

const DAYS = `
  SELECT code, created_ms AS "createdMs", day, sum(visits)::bigint AS visits, sum(bots)::bigint AS bots,
    bool_or(state = ${OPEN}) AS "isOpen", array_agg(detail ORDER BY source) FILTER (WHERE detail IS NOT NULL) AS details
  FROM visits WHERE state < ${EMPTY}`;
const READ_DAYS = `
  ${DAYS} AND (code, created_ms, day) > ($1, $2, $3)
  GROUP BY code, created_ms, day ORDER BY code, created_ms, day LIMIT $4`;
/** No index has this order, so the server sorts once. */
const DECLARE_DAYS = `
  DECLARE days NO SCROLL CURSOR FOR
  ${DAYS} GROUP BY code, created_ms, day ORDER BY day, code, created_ms`;
const FETCH_DAYS = "FETCH 1000 FROM days";
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
const READ_SECRETS = "SELECT name, secret FROM secrets WHERE name > $1 ORDER BY name LIMIT $2";
const WRITE_SECRETS = `
  INSERT INTO secrets (name, secret) SELECT * FROM unnest($1::text[], $2::bytea[])
  ON CONFLICT (name) DO UPDATE SET secret = excluded.secret WHERE secrets.secret <> excluded.secret`;

type DayRow = Omit<LinkDay, "detail"> & { details: Detail[] | null };

export const VISIT_RECORDS: Tables<"day" | "salt" | "secret"> = {
  day: {
    read: reading<DayRow, LinkDay>(READ_DAYS, {
      start: ["", 0, -1],
      keyOf: ({ code, createdMs, day }) => [code, createdMs, day],
      toRecord: toDay,
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
  secret: {
    read: reading<RecordOf["secret"], RecordOf["secret"]>(READ_SECRETS, {
      start: [""],
      keyOf: ({ name }) => [name],
      toRecord: (row) => row,
    }),
    write: writing(WRITE_SECRETS, (secrets) => [
      secrets.map(({ name }) => name),
      secrets.map(({ secret }) => secret),
    ]),
  },
};

/** All days by their number, in a transaction. */
export async function* readDays(run: Run): AsyncGenerator<readonly LinkDay[]> {
  await run(DECLARE_DAYS);
  for (;;) {
    const { rows } = await run<QueryResultRow>(FETCH_DAYS);
    if (rows.length === 0) break;
    yield (rows as readonly DayRow[]).map(toDay);
  }
  await run("CLOSE days");
}

function toDay({ details, ...day }: DayRow): LinkDay {
  return { ...day, detail: details === null ? null : mergeDetails(details) };
}

/** The sums are added up already. */
function mergeDetails(details: readonly Detail[]): Detail {
  return mergeAll(details.map((detail) => ({ visits: 0, bots: 0, detail }))).detail;
}
