// A SQLite file as records, to be copied from or to be filled.
import type { Database } from "bun:sqlite";

import type { Link } from "../../links/link.ts";
import { StoreUnavailable, StoreUnusable } from "../../links/store.ts";
import { type Counts, type FilledRecords, readAll, type Records } from "../records.ts";
import { beginCopy, finishCopy, keepProgress, requireWhole } from "./copied.ts";
import { identify } from "./file/file-identity.ts";
import { openChecked, openWriter } from "./file/file.ts";
import { guardRecords } from "./guard-records.ts";
import { linkRecords } from "./link-records.ts";
import { LINK_COLUMNS, type LinkRow, toLink } from "./link-row.ts";
import { createReader } from "./reader.ts";
import type { Tables } from "./record-table.ts";
import { visitRecords } from "./visit-records.ts";

const COUNT = `
  SELECT (SELECT count(*) FROM links) AS link,
    (SELECT count(*) FROM links WHERE disabled IS NOT NULL) AS disabled,
    (SELECT count(*) FROM links WHERE ends_ms IS NOT NULL) AS ending,
    counted.day, counted.visits, counted.bots,
    (SELECT count(*) FROM salts) AS salt,
    (SELECT count(*) FROM secrets) AS secret,
    (SELECT count(*) FROM hosts) AS host,
    (SELECT count(*) FROM journal) AS entry,
    (SELECT count(*) FROM cases) AS "case",
    (SELECT count(*) FROM reporters) AS reporter,
    (SELECT count(*) FROM counters) AS counter
  FROM (
    SELECT count(*) AS day, coalesce(sum(visits), 0) AS visits, coalesce(sum(bots), 0) AS bots FROM visits
  ) AS counted`;
/** Records that a snapshot returns at once. */
const SNAPSHOT_PART = 1000;
const ENDS = "SELECT min(rowid) AS oldest, max(rowid) AS newest FROM links";
const LINK_FROM = `
  SELECT code, ${LINK_COLUMNS} FROM links
  WHERE rowid >= ?1 ORDER BY rowid LIMIT 1`;

/** Opens a file that is there. Throws {@link StoreUnusable}. */
export function openSqliteRecords(path: string): Records {
  const database = openChecked(path);
  if (database === undefined) throw new StoreUnusable(`${path} is not there.`);
  try {
    requireWhole(database, path);
    return reading(database, path);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Opens a file that is to be filled, made or migrated where needed. Throws {@link StoreUnusable}. */
export function openSqliteToFill(path: string): FilledRecords {
  const database = openWriter(path);
  const tables = tablesOf(database);
  return {
    ...reading(database, path),
    begin: async (copying) => trying(() => beginCopy(database, copying)),
    async write(kind, records, { before, after }) {
      const write = database.transaction(() => {
        if (!keepProgress(database, before, after))
          throw new StoreUnusable(`${path} is filled or served by somebody else.`);
        tables[kind].write(records);
      });
      trying(write.immediate);
    },
    finish: async () => trying(() => finishCopy(database)),
  };
}

/** Statements are made when they are first used. */
function tablesOf(database: Database): Tables {
  return { ...linkRecords(database), ...visitRecords(database), ...guardRecords(database) };
}

function reading(database: Database, path: string): Records {
  const tables = tablesOf(database);
  const reader = createReader(path, identify(path));
  return {
    find: async (code) => reader.find(code),
    sums: async (code, createdMs) => reader.sums(code, createdMs),
    read: async (kind, after, limit) => trying(() => tables[kind].read(after, limit)),
    async snapshot(work) {
      // Later commits wait in the log until this is over.
      trying(() => database.run("BEGIN"));
      try {
        return await work((kind) =>
          readAll(async (after) => trying(() => tables[kind].read(after, SNAPSHOT_PART))),
        );
      } finally {
        trying(() => database.run("COMMIT"));
      }
    },
    async count() {
      const counts = trying(() => database.query<Counts, []>(COUNT).get());
      if (counts === null) throw new Error("A statement that always returns a row returned none");
      return counts;
    },
    async spread(count) {
      const { oldest, newest } = trying(() =>
        database.query<{ oldest: number | null; newest: number | null }, []>(ENDS).get(),
      ) ?? { oldest: null, newest: null };
      if (oldest === null || newest === null) return [];
      const from = database.query<LinkRow & Pick<Link, "code">, [number]>(LINK_FROM);
      const links = new Map<string, Link>();
      for (let nth = 0; nth < count; nth++) {
        const row = trying(() => from.get(oldest + Math.floor((nth * (newest + 1 - oldest)) / count)));
        if (row !== null) links.set(row.code, toLink(row.code, row));
      }
      return [...links.values()];
    },
    async close() {
      reader.close();
      database.close();
    },
  };
}

export function trying<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    if (typeof code !== "string") throw error;
    throw new StoreUnavailable(message, { cause: error });
  }
}
