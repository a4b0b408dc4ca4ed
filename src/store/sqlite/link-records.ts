// Links and their days as records: exported, filled in and imported.

import type { Database, SQLQueryBindings } from "bun:sqlite";

import type { LinkKey } from "../../links/code.ts";
import type { StoredLink } from "../../links/link.ts";
import { closeDetail } from "../../visits/days/day.ts";
import { LINK_COLUMNS, type LinkRow, toLink } from "../shared/link-row.ts";
import { reading, type Tables } from "../shared/record-tables.ts";
import type { ImportedLink, LinkDay, LinkImporter } from "../shared/records.ts";
import { isFailedSync } from "./file/failed-sync.ts";
import type { FileDatabase } from "./file/file-database.ts";
import { closeWriter } from "./file/file.ts";
import { ADD_LINK, columnsOf } from "./link-writes.ts";
import { fail, trying } from "./sql.ts";

const LINKS = `SELECT code, ${LINK_COLUMNS} FROM links ORDER BY rowid`;
const FIND = `SELECT ${LINK_COLUMNS} FROM links WHERE code = ?1`;
const DAYS = `
  SELECT day, code, created_ms AS createdMs, visits, bots, detail,
    EXISTS (SELECT 1 FROM open_days WHERE open_days.day = visits.day) AS isOpen
  FROM visits ORDER BY day, code, created_ms`;
/** A purged link that is imported again may still have visits. */
const ADD_DAY = `
  INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
  ON CONFLICT (day, code, created_ms) DO NOTHING`;

/** The longest of SQLite's first pauses between two tries to lock. */
const MIN_PAUSE_MS = 25;

/** Prepares each statement once, because there may be millions of records. */
export function linkRecords(database: Database): Tables<"link" | "day"> {
  return {
    link: {
      read: reading(LINKS, ({ code, ...row }: LinkRow & { code: LinkKey }) => toLink(code, row)),
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
function writeDays(database: Database, days: readonly LinkDay[]): number {
  const rows = days.map((one) => [one.day, one.code, one.createdMs, one.visits, one.bots, one.detail]);
  return writeAll(database, ADD_DAY, rows);
}

function writeAll(database: Database, statement: string, rows: readonly SQLQueryBindings[][]): number {
  const write = database.query<unknown, SQLQueryBindings[]>(statement);
  return rows.reduce((added, row) => added + write.run(...row).changes, 0);
}

/** Closes the database in the end. */
export function createImporter(database: FileDatabase): Omit<LinkImporter, "codeCase"> {
  const addLink = database.prepare<unknown, (string | number | null)[]>(ADD_LINK);
  const find = database.prepare<LinkRow, [LinkKey]>(FIND);

  function addOne(link: ImportedLink): StoredLink | undefined {
    const { code, createdMs } = link;
    if (addLink.run(...columnsOf(link)).changes === 0) {
      const row = find.get(code);
      if (row === null) throw new Error(`The link of ${code} is there and cannot be found`);
      return toLink(code, row);
    }
    const days = link.days.map((day) => ({ ...day, code, createdMs }));
    writeDays(database, days);
    return undefined;
  }

  const addAll = database.transaction((links: readonly ImportedLink[]) => links.map(addOne));
  let hasFailedSync = false;

  return {
    async add(links) {
      const startMs = performance.now();
      let existing: (StoredLink | undefined)[];
      try {
        existing = addAll.immediate(links);
        database.checkpointIfLong();
      } catch (error) {
        hasFailedSync ||= isFailedSync(error);
        return fail(error);
      }
      // SQLite's lock has no queue: without a pause, the creates of a serving process would hardly ever get it.
      await Bun.sleep(Math.max(MIN_PAUSE_MS, performance.now() - startMs));
      return existing;
    },
    async close() {
      // Closing would try the sync again.
      if (hasFailedSync) return;
      for (const statement of [addLink, find]) statement.finalize();
      trying(() => closeWriter(database));
    },
  };
}
