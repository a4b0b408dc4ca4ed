// Links and their days as records.
import { closeDetail } from "../../visits/day.ts";
import type { Detail } from "../../visits/detail.ts";
import type { LinkDay } from "../records.ts";
import { reading, type Tables } from "../shared/record-tables.ts";
import type { Run } from "./connection/database.ts";
import { columnsOf, GIVEN_LINKS, LINK_COLUMNS, toLink } from "./link-row.ts";
import { CLOSED, EMPTY, OPEN } from "./visit-rows.ts";
import { mergeAll } from "./visits.ts";

const LINKS = `SELECT ${LINK_COLUMNS} FROM links ORDER BY created_ms, code`;
const ADD_LINKS = `
  INSERT INTO links (code, original_url, target, created_ms, ends_ms, disabled, terms)
  SELECT code, original_url, target, created_ms, ends_ms, ($7::text[])[nth], terms FROM ${GIVEN_LINKS}
  ON CONFLICT DO NOTHING`;
/** No index has this order, so the server sorts once. */
const DAYS = `
  SELECT code, created_ms AS "createdMs", day, sum(visits)::bigint AS visits, sum(bots)::bigint AS bots,
    bool_or(state = ${OPEN}) AS "isOpen", array_agg(detail ORDER BY source) FILTER (WHERE detail IS NOT NULL) AS details
  FROM visits WHERE state < ${EMPTY}
  GROUP BY code, created_ms, day ORDER BY day, code, created_ms`;
/** They belong to no source that counts. */
const ADD_DAYS = `
  INSERT INTO visits (code, created_ms, day, source, sequence, version, state, visits, bots, detail)
  SELECT code, created_ms, day, '', 0, 1, ${CLOSED}, visits, bots,
    CASE WHEN detail_length > 0 THEN substr($7::bytea, detail_from, detail_length) END
  FROM unnest($1::text[], $2::bigint[], $3::integer[], $4::bigint[], $5::bigint[], $6::integer[], $8::integer[])
    AS given (code, created_ms, day, visits, bots, detail_length, detail_from)
  ON CONFLICT DO NOTHING`;

type DayRow = Omit<LinkDay, "detail"> & { isOpen: boolean; details: Detail[] | null };

/** `run` is that of PostgreSQL, which takes arrays. */
export function linkRecords(run: Run): Tables<"link" | "day"> {
  return {
    link: {
      read: reading(LINKS, toLink),
      async write(_, links) {
        const values = [...columnsOf(links), links.map(({ disabled }) => disabled)];
        return (await run(ADD_LINKS, values)).count;
      },
    },
    day: {
      read: reading(DAYS, ({ isOpen, details, ...day }: DayRow): LinkDay => {
        const detail = details === null ? null : mergeDetails(details);
        return { ...day, detail: isOpen && detail !== null ? closeDetail(detail) : detail };
      }),
      write: (_, days) => writeDays(run, days),
    },
  };
}

/** Returns how many were added. */
export async function writeDays(run: Run, days: readonly LinkDay[]): Promise<number> {
  const lengths = days.map(({ detail }) => detail?.length ?? 0);
  let end = 1;
  const starts = lengths.map((length) => (end += length) - length);
  const { count } = await run(ADD_DAYS, [
    days.map(({ code }) => code),
    days.map(({ createdMs }) => createdMs),
    days.map(({ day }) => day),
    days.map(({ visits }) => visits),
    days.map(({ bots }) => bots),
    lengths,
    // One value instead of an array, which would be sent and read as hexadecimal text.
    Buffer.concat(days.map(({ detail }) => detail ?? new Uint8Array())),
    starts,
  ]);
  return count;
}

/** The sums are added up already. */
function mergeDetails(details: readonly Detail[]): Detail {
  return mergeAll(details.map((detail) => ({ visits: 0, bots: 0, detail }))).detail;
}
