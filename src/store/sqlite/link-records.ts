import type { Database, SQLQueryBindings } from "bun:sqlite";

import type { Code } from "../../links/code.ts";
// Links and their days as records.
import { closeDetail } from "../../visits/day.ts";
import type { LinkDay } from "../records.ts";
import { LINK_COLUMNS, type LinkRow, toLink } from "../shared/link-row.ts";
import { reading, type Tables } from "../shared/record-tables.ts";
import { ADD_LINK, columnsOf } from "./links.ts";

const LINKS = `SELECT code, ${LINK_COLUMNS} FROM links ORDER BY rowid`;
const DAYS = `
  SELECT day, code, created_ms AS createdMs, visits, bots, detail,
    EXISTS (SELECT 1 FROM open_days WHERE open_days.day = visits.day) AS isOpen
  FROM visits ORDER BY day, code, created_ms`;
/** Visits of a link that was purged and is taken in again may still be there. */
const ADD_DAY = `
  INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
  ON CONFLICT (day, code, created_ms) DO NOTHING`;

/** There may be millions, so statements are not prepared each time. */
export function linkRecords(database: Database): Tables<"link" | "day"> {
  return {
    link: {
      read: reading(LINKS, ({ code, ...row }: LinkRow & { code: Code }) => toLink(code, row)),
      write: async (_, links) => writeAll(database, ADD_LINK, links.map(columnsOf)),
    },
    day: {
      read: reading(DAYS, ({ isOpen, detail, ...day }: LinkDay & { isOpen: number }) => ({
        ...day,
        detail: isOpen === 1 && detail !== null ? closeDetail(detail) : detail,
      })),
      write: async (_, days) => writeDays(database, days),
    },
  };
}

/** Returns how many were added. */
export function writeDays(database: Database, days: readonly LinkDay[]): number {
  const rows = days.map((one) => [one.day, one.code, one.createdMs, one.visits, one.bots, one.detail]);
  return writeAll(database, ADD_DAY, rows);
}

function writeAll(database: Database, statement: string, rows: readonly SQLQueryBindings[][]): number {
  const write = database.query<unknown, SQLQueryBindings[]>(statement);
  return rows.reduce((added, row) => added + write.run(...row).changes, 0);
}
