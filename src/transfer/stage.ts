// Links and visits on their way in. A link is taken in together with its visits, which may stand anywhere in the file, so
// everything waits in a temporary file first. Memory is bounded, and the last byte of the source is read before the first
// link is written.
import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Code } from "../links/code.ts";
import { StoreUnusable } from "../links/store.ts";
import type { Detail } from "../visits/detail.ts";
import type { SourceLink, SourceVisits } from "./source.ts";

/** Rows in one transaction. */
const MANY = 10_000;

const SCHEMA = `
  CREATE TABLE links (nth INTEGER PRIMARY KEY, key ANY NOT NULL, link TEXT NOT NULL) STRICT;
  CREATE TABLE days (
    key ANY NOT NULL, day INTEGER NOT NULL, visits INTEGER NOT NULL, bots INTEGER NOT NULL, detail BLOB,
    PRIMARY KEY (key, day)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE codes (code TEXT PRIMARY KEY) STRICT, WITHOUT ROWID`;
const ADD_CODE = "INSERT INTO codes (code) VALUES (?1) ON CONFLICT DO NOTHING";
const ADD_LINK = "INSERT INTO links (key, link) VALUES (?1, ?2)";
const ADD_DAY = `
  INSERT INTO days (key, day, visits, bots, detail) VALUES (?1, ?2, ?3, ?4, ?5)
  ON CONFLICT (key, day) DO UPDATE SET visits = visits + ?3, bots = bots + ?4, detail = NULL`;
const LINKS = "SELECT nth, link FROM links WHERE nth > ?1 ORDER BY nth LIMIT ?2";
const DAYS = "SELECT day, visits, bots, detail FROM days WHERE key = ?1 ORDER BY day";
const COUNT = "SELECT count(*) AS links FROM links";

export interface StagedDay {
  readonly day: number;
  readonly visits: number;
  readonly bots: number;
  readonly detail: Detail | null;
}

export interface StagedLink extends SourceLink {
  readonly days: readonly StagedDay[];
}

/** Throws {@link StoreUnusable} if the file cannot be written. */
export function openStage() {
  const database = explained(openFile);
  const addLink = database.prepare<unknown, [string | number, string]>(ADD_LINK);
  const addDay = database.prepare<unknown, [string | number, ...number[], Detail | null]>(ADD_DAY);
  const links = database.prepare<{ nth: number; link: string }, [number, number]>(LINKS);
  const days = database.prepare<StagedDay, [string | number]>(DAYS);
  const addCode = database.prepare<unknown, [string]>(ADD_CODE);
  let waiting = 0;
  /** Many sources know no days. */
  let hasDays = false;

  function written(): void {
    if (waiting > 0) database.run("COMMIT");
    waiting = 0;
  }

  function add(write: () => void): void {
    explained(() => {
      if (waiting === 0) database.run("BEGIN");
      waiting++;
      write();
      if (waiting === MANY) written();
    });
  }

  return {
    addLink: (link: SourceLink) => add(() => addLink.run(link.key, JSON.stringify(link))),
    addVisits({ key, day, visits, bots = 0, detail }: SourceVisits): void {
      hasDays = true;
      add(() => addDay.run(key, day, visits, bots, detail ?? null));
    },
    count(): number {
      explained(written);
      return database.query<{ links: number }, []>(COUNT).get()?.links ?? 0;
    },
    /** Whether this is the first link with the code. */
    isFirst(code: Code): boolean {
      let isFirst = false;
      add(() => void (isFirst = addCode.run(code).changes === 1));
      return isFirst;
    },
    /** In the order of the file, at most so many at once. */
    *parts(limit: number): Generator<readonly StagedLink[]> {
      explained(written);
      for (let after = 0; ;) {
        const rows = links.all(after, limit);
        after = rows.at(-1)?.nth ?? after;
        if (rows.length > 0)
          yield rows.map(({ link }) => {
            const staged = JSON.parse(link) as Omit<StagedLink, "days">;
            return { ...staged, days: hasDays ? days.all(staged.key) : [] };
          });
        if (rows.length < limit) return;
      }
    },
    [Symbol.dispose]: () => database.close(),
  };
}

/** Without a name, so that nothing is left of it however the import ends. What a crash leaves would never be read again. */
function openFile(): Database {
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

function explained<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    if (typeof code !== "string") throw error;
    throw new StoreUnusable(
      `The temporary file in ${tmpdir()} could not be written: ${message}. It takes about as much room as the source. Set TMPDIR to a folder that has it.`,
      { cause: error },
    );
  }
}
