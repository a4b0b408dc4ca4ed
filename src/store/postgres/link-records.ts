// Links and their days as records: exported, filled in and imported.
import { type LinkId, StoreUnavailable } from "../../links/link-store.ts";
import type { StoredLink } from "../../links/link.ts";
import { closeDetail } from "../../visits/days/day.ts";
import type { Detail } from "../../visits/days/detail.ts";
import { reading, type Tables } from "../shared/record-tables.ts";
import type { ImportedLink, LinkDay, LinkImporter } from "../shared/records.ts";
import type { Database, Run } from "./connection/database.ts";
import { addToCount } from "./link-count.ts";
import { columnsOf, GIVEN_LINKS, LINK_COLUMNS, type LinkRow, toLink } from "./link-row.ts";
import { mergeAll } from "./visit-queries.ts";
import { CLOSED, EMPTY, OPEN } from "./visit-rows.ts";

const LINKS = `SELECT ${LINK_COLUMNS} FROM links ORDER BY created_ms, code`;
const ADD_LINKS = `
  INSERT INTO links (code, original_url, target, created_ms, ends_ms, terms, disabled)
  SELECT code, original_url, target, created_ms, ends_ms, terms, ($7::text[])[nth] FROM ${GIVEN_LINKS}`;
const FILL_LINKS = `${ADD_LINKS} ON CONFLICT DO NOTHING`;
/** Ordered by code, so that two statements can't deadlock. */
const IMPORT_LINKS = `${ADD_LINKS} ORDER BY code COLLATE "C" ON CONFLICT (code) DO NOTHING RETURNING code`;
/** No index has this order, so the server sorts once. */
const DAYS = `
  SELECT code, created_ms AS "createdMs", day, sum(visits)::bigint AS visits, sum(bots)::bigint AS bots,
    bool_or(state = ${OPEN}) AS "isOpen", array_agg(detail ORDER BY source) FILTER (WHERE detail IS NOT NULL) AS details
  FROM visits WHERE state < ${EMPTY}
  GROUP BY code, created_ms, day ORDER BY day, code, created_ms`;
/** Imported days have no source. */
const ADD_DAYS = `
  INSERT INTO visits (code, created_ms, day, source, sequence, version, state, visits, bots, detail)
  SELECT code, created_ms, day, '', 0, 1, ${CLOSED}, visits, bots,
    CASE WHEN detail_length > 0 THEN substr($7::bytea, detail_from, detail_length) END
  FROM unnest($1::text[], $2::bigint[], $3::integer[], $4::bigint[], $5::bigint[], $6::integer[], $8::integer[])
    AS given (code, created_ms, day, visits, bots, detail_length, detail_from)
  ON CONFLICT DO NOTHING`;
/** A purged link that is imported again may still have visits. */
const FIND_DAYS = `
  SELECT DISTINCT code, created_ms AS "createdMs", day FROM visits
  JOIN unnest($1::text[], $2::bigint[]) AS given (code, created_ms) USING (code, created_ms)
  WHERE state < ${EMPTY}`;
const FIND = `SELECT ${LINK_COLUMNS} FROM links WHERE code = ANY ($1::text[])`;

type DayRow = Omit<LinkDay, "detail"> & { isOpen: boolean; details: Detail[] | null };

/** `run` must support arrays. */
export function linkRecords(run: Run): Tables<"link" | "day"> {
  return {
    link: {
      read: reading(LINKS, toLink),
      async write(_, links) {
        const values = [...columnsOf(links), links.map(({ disabled }) => disabled)];
        return (await run(FILL_LINKS, values)).count;
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
async function writeDays(run: Run, days: readonly LinkDay[]): Promise<number> {
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

/** Ignores the sums, which the statement has added up. */
function mergeDetails(details: readonly Detail[]): Detail {
  return mergeAll(details.map((detail) => ({ visits: 0, bots: 0, detail }))).detail;
}

/** Closes the database in the end. */
export function createImporter(database: Database): Omit<LinkImporter, "codeCase"> {
  return {
    add: (links) =>
      database.transaction(async (run) => {
        const { rows } = await run<{ code: string }>(IMPORT_LINKS, [
          ...columnsOf(links),
          links.map(({ disabled }) => disabled),
        ]);
        const added = new Set(rows.map(({ code }) => code));
        const isAdded = ({ code }: StoredLink) => added.has(code);
        await addDays(run, links.filter(isAdded));
        // Written last, because other processes wait for this row.
        if (added.size > 0) await addToCount(run, added.size);
        const conflicts = links.filter((link) => !isAdded(link)).map(({ code }) => code);
        if (conflicts.length === 0) return links.map(() => undefined);
        const existing = new Map(
          (await run<LinkRow>(FIND, [conflicts])).rows.map((row) => [row.code, toLink(row)]),
        );
        const isGone = conflicts.some((code) => !existing.has(code));
        if (isGone) throw new StoreUnavailable("A link was deleted at the same moment");
        return links.map(({ code }) => existing.get(code));
      }),
    close: database.close,
  };
}

async function addDays(run: Run, links: readonly ImportedLink[]): Promise<void> {
  const days = links.flatMap(({ code, createdMs, days: ofLink }) =>
    ofLink.map((day) => ({ ...day, code, createdMs })),
  );
  if (days.length === 0) return;
  const { rows } = await run<LinkId & { day: number }>(FIND_DAYS, [
    links.map(({ code }) => code),
    links.map(({ createdMs }) => createdMs),
  ]);
  const known = new Set(rows.map(({ code, day }) => `${day} ${code}`));
  const missing = known.size === 0 ? days : days.filter(({ code, day }) => !known.has(`${day} ${code}`));
  await writeDays(run, missing);
}
