import type { PostgresAddress } from "../../config/database-url.ts";
import type { Link } from "../../links/link.ts";
import { type LinkId, StoreUnavailable } from "../../links/store.ts";
import type { ArrivingLink, Intake } from "../intake.ts";
import type { Database, Run } from "./connection/database.ts";
import { addToCount } from "./link-count.ts";
import { writeDays } from "./link-records.ts";
import { columnsOf, GIVEN_LINKS, LINK_COLUMNS, type LinkRow, toLink } from "./link-row.ts";
import { opening } from "./records.ts";
import { migrate } from "./schema.ts";
import { EMPTY } from "./visit-rows.ts";

/** In the order of the codes, so that no two statements wait for each other. */
const ADD_LINKS = `
  INSERT INTO links (code, original_url, target, created_ms, ends_ms, terms, disabled)
  SELECT code, original_url, target, created_ms, ends_ms, terms, ($7::text[])[nth]
  FROM ${GIVEN_LINKS}
  ORDER BY code COLLATE "C"
  ON CONFLICT (code) DO NOTHING
  RETURNING code`;
/** Visits of a link that was purged and is taken in again may still be there. */
const FIND_DAYS = `
  SELECT DISTINCT code, created_ms AS "createdMs", day FROM visits
  JOIN unnest($1::text[], $2::bigint[]) AS given (code, created_ms) USING (code, created_ms)
  WHERE state < ${EMPTY}`;
const FIND = `SELECT ${LINK_COLUMNS} FROM links WHERE code = ANY ($1::text[])`;

export function openPostgresIntake(address: PostgresAddress): Promise<Intake> {
  return opening(address, async (database) => {
    await migrate(database);
    return adding(database);
  });
}

function adding(database: Database): Intake {
  return {
    add: (links) =>
      database.transaction(async (run) => {
        const { rows } = await run<{ code: string }>(ADD_LINKS, [
          ...columnsOf(links),
          links.map(({ disabled }) => disabled),
        ]);
        const added = new Set(rows.map(({ code }) => code));
        const isAdded = ({ code }: Link) => added.has(code);
        await addDays(run, links.filter(isAdded));
        // Last of what it writes, because other processes wait for this row.
        if (added.size > 0) await addToCount(run, added.size);
        const left = links.filter((link) => !isAdded(link)).map(({ code }) => code);
        if (left.length === 0) return links.map(() => undefined);
        const known = new Map((await run<LinkRow>(FIND, [left])).rows.map((row) => [row.code, toLink(row)]));
        const isGone = left.some((code) => !known.has(code));
        if (isGone) throw new StoreUnavailable("A link was deleted at the same moment");
        return links.map(({ code }) => known.get(code));
      }),
    close: database.close,
  };
}

async function addDays(run: Run, links: readonly ArrivingLink[]): Promise<void> {
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
