// Links and visits of an import wait here until the whole file is read, because the visits of a link may be anywhere in it. This
// bounds the memory, and no link is written before the last byte is read.
import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { LinkKey } from "../links/code.ts";
import { StoreUnusable } from "../links/link-store.ts";
import type { ImportedLink } from "../store/shared/records.ts";
import type { Detail } from "../visits/days/detail.ts";
import { MAX_VISITS } from "./field-codecs.ts";
import type { LinkItem, VisitsItem } from "./import-items.ts";

const ROWS_PER_TRANSACTION = 10_000;

const SCHEMA = `
  CREATE TABLE links (nth INTEGER PRIMARY KEY, key ANY NOT NULL, link TEXT NOT NULL) STRICT;
  CREATE INDEX links_by_key ON links (key);
  CREATE TABLE days (
    key ANY NOT NULL, day INTEGER NOT NULL, visits INTEGER NOT NULL, bots INTEGER NOT NULL, detail BLOB,
    PRIMARY KEY (key, day)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE codes (code TEXT PRIMARY KEY) STRICT, WITHOUT ROWID`;
const ADD_CODE = "INSERT INTO codes (code) VALUES (?1) ON CONFLICT DO NOTHING";
const ADD_LINK = "INSERT INTO links (key, link) VALUES (?1, ?2)";
const ADD_DAY = `
  INSERT INTO days (key, day, visits, bots, detail) VALUES (?1, ?2, min(?3, ${MAX_VISITS}), ?4, ?5)
  ON CONFLICT (key, day) DO UPDATE SET
    visits = min(visits + ?3, ${MAX_VISITS}), bots = min(bots + ?4, ${MAX_VISITS}), detail = NULL`;
const LINKS = "SELECT nth, link FROM links WHERE nth > ?1 ORDER BY nth LIMIT ?2";
const DAYS = "SELECT day, visits, bots, detail FROM days WHERE key = ?1 ORDER BY day";
const HAS_LINK = "SELECT 1 FROM links WHERE key = ?1";
const COUNT = "SELECT count(*) AS links FROM links";

export interface StagedLink extends LinkItem {
  readonly days: ImportedLink["days"];
}

/** Throws {@link StoreUnusable} if the file can't be written. */
export function openStagingFile() {
  const database = explainFailure(createDatabase);
  const addLink = database.prepare<unknown, [string | number, string]>(ADD_LINK);
  const addDay = database.prepare<unknown, [string | number, ...number[], Detail | null]>(ADD_DAY);
  const links = database.prepare<{ nth: number; link: string }, [number, number]>(LINKS);
  const days = database.prepare<ImportedLink["days"][number], [string | number]>(DAYS);
  const addCode = database.prepare<unknown, [string]>(ADD_CODE);
  const hasLink = database.prepare<unknown, [string | number]>(HAS_LINK);
  let pendingRows = 0;
  /** Saves a query per link: many files have no days. */
  let hasDays = false;

  function commit(): void {
    if (pendingRows > 0) database.run("COMMIT");
    pendingRows = 0;
  }

  function add<T>(write: () => T): T {
    return explainFailure(() => {
      if (pendingRows === 0) database.run("BEGIN");
      pendingRows++;
      const result = write();
      if (pendingRows === ROWS_PER_TRANSACTION) commit();
      return result;
    });
  }

  return {
    addLink: (link: LinkItem) => add(() => addLink.run(link.key, JSON.stringify(link))),
    hasLink: (key: string | number): boolean => explainFailure(() => hasLink.get(key)) !== null,
    addVisits({ key, day, visits, bots = 0, detail = null }: VisitsItem): void {
      hasDays = true;
      add(() => addDay.run(key, day, visits, bots, detail));
    },
    /** Returns whether this is the first link with the code. */
    addCode: (code: LinkKey): boolean => add(() => addCode.run(code).changes === 1),
    countLinks(): number {
      explainFailure(commit);
      return database.query<{ links: number }, []>(COUNT).get()?.links ?? 0;
    },
    /** Reads the links in the order of the file. A batch has at most `maxRows` links and days, or one link. */
    *batches(maxRows: number): Generator<readonly StagedLink[]> {
      explainFailure(commit);
      let batch: StagedLink[] = [];
      let rows = 0;
      for (
        let page = links.all(0, maxRows);
        page.length > 0;
        page = links.all(page.at(-1)?.nth ?? 0, maxRows)
      )
        for (const { link } of page) {
          const item = JSON.parse(link) as LinkItem;
          const staged = { ...item, days: hasDays ? days.all(item.key) : [] };
          rows += 1 + staged.days.length;
          if (rows > maxRows && batch.length > 0) {
            yield batch;
            batch = [];
            rows = 1 + staged.days.length;
          }
          batch.push(staged);
        }
      if (batch.length > 0) yield batch;
    },
    [Symbol.dispose]: () => database.close(),
  };
}

/** The file is unlinked right away, so the system frees it however the import ends. */
function createDatabase(): Database {
  const folder = mkdtempSync(join(tmpdir(), "curt-import-"));
  try {
    const database = new Database(join(folder, "stage.db"), { create: true, strict: true });
    for (const pragma of ["journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE"])
      database.run(`PRAGMA ${pragma}`);
    for (const statement of SCHEMA.split(";")) database.run(statement);
    return database;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function explainFailure<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    if (typeof code !== "string") throw error;
    throw new StoreUnusable(
      `The temporary file in ${tmpdir()} could not be written: ${message}. It needs about as much space as the input. Set TMPDIR to a folder with more space.`,
      { cause: error },
    );
  }
}
