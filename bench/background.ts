import { Database } from "bun:sqlite";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { readConfig } from "../src/config/config.ts";
import { createLog } from "../src/lib/log.ts";
import type { LinkKey } from "../src/links/code.ts";
import { isProblem } from "../src/links/problem.ts";
import { DAY_MS, isoDay } from "../src/links/time.ts";
import { type Core, openCore } from "../src/server/core.ts";
import { openStore, type Store } from "../src/store/open.ts";
import { createDay } from "../src/visits/days/day.ts";
import { startPostgres } from "../test/support/postgres.ts";
import { slicesOf } from "../test/visits/slices.ts";
import { rounded } from "./measure.ts";
import { LOAD_CORE, run } from "./process.ts";
import type { Bench, Result, Row } from "./report.ts";

const ROWS = 1_000_000;
const CREATE_EVERY_MS = 5;
const ALONE_MS = 5000;
const IMPORT_LIMIT_MS = 600_000;
/** Durable settings with enough memory, unlike those of tests. */
const SETTINGS = ["fsync=on", "full_page_writes=on", "shared_buffers=256MB", "max_wal_size=4GB"];

const TODAY = Math.floor(Date.now() / DAY_MS);
const CREATED_MS = (TODAY - 600) * DAY_MS;
/** Sources of one day of a link: many processes, each started several times. */
const SOURCES = 40;
const DETAIL = Buffer.from(
  createDay(
    {
      visits: 3,
      bots: 1,
      details: [1, 2, 3].map((visitor) => ({
        visitor,
        times: 1,
        agent: { browser: "Chrome", os: "Windows", device: "desktop" },
        referrer: "www.example.com",
        language: "ko",
        country: "KR",
      })),
    },
    9,
  ).detail,
).toString("hex");

/** Runs statements in the database before Curt opens it, and afterwards. `n` counts from 1 in the values. */
interface Fill {
  readonly engine: "SQLite" | "PostgreSQL";
  rows(table: string, values: Readonly<Record<string, string>>, count?: number): Promise<void>;
  blob(hex: string): string;
}

/** The longest wait of a create beside everything that runs in the background, in a store with a million rows of everything. */
export async function measureBackground({ folder, progress }: Bench): Promise<Result> {
  const path = join(folder, "background.db");
  await (await openStore({ engine: "sqlite", path })).close();
  const rows = await measureEngine(sqliteFill(path), { DATABASE_URL: `sqlite:${path}` }, folder, progress);

  await using server = await startPostgres(SETTINGS);
  const settings = { DATABASE_URL: await server.url("background"), DATA_DIR: join(folder, "postgres") };
  const { database } = readConfig(settings);
  await (await openStore(database)).close();
  const fill: Fill = {
    engine: "PostgreSQL",
    blob: (hex) => `'\\x${hex}'::bytea`,
    async rows(table, values, count = ROWS) {
      await server.query(`${insertFrom(table, values)} FROM generate_series(1, ${count}) AS n`, "background");
      await server.query(`ANALYZE ${table}`, "background");
      // Otherwise its writeback delays the syncs of creates.
      await server.query("CHECKPOINT", "background");
    },
  };
  rows.push(...(await measureEngine(fill, settings, folder, progress)));
  return { rows, rounds: {} };
}

function sqliteFill(path: string): Fill {
  return {
    engine: "SQLite",
    blob: (hex) => `x'${hex}'`,
    async rows(table, values, count = ROWS) {
      using database = new Database(path, { readwrite: true });
      database.run("PRAGMA busy_timeout = 60000");
      database.run(
        `WITH RECURSIVE series (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < ${count})
        ${insertFrom(table, values)} FROM series`,
      );
      database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    },
  };
}

function insertFrom(table: string, values: Readonly<Record<string, string>>): string {
  return `INSERT INTO ${table} (${Object.keys(values).join(", ")}) SELECT ${Object.values(values).join(", ")}`;
}

async function measureEngine(
  fill: Fill,
  settings: Readonly<Record<string, string>>,
  folder: string,
  progress: Bench["progress"],
): Promise<Row[]> {
  const { engine } = fill;
  progress(`${engine}: ${ROWS} rows of everything`);
  await fillAll(fill);
  const config = readConfig(settings);
  const core = await openCore(config, createLog("error", process.stderr));
  /** Like another process on the same database. */
  const other = await openStore(config.database);
  const rows: Row[] = [];
  const creates = (work: () => Promise<unknown>) => waitsOfCreates(core, work);
  try {
    for (const [name, { prepare, work }] of Object.entries(jobsOf(fill, core, other, settings, folder))) {
      await prepare?.();
      const waits = await creates(work);
      progress(`${engine}: ${name}: ${JSON.stringify(waits)}`);
      rows.push({ [`creates beside, ${ROWS.toLocaleString("en")} rows`]: `${engine}: ${name}`, ...waits });
    }
  } finally {
    await other.close();
    await core.close();
  }
  return rows;
}

interface Job {
  readonly prepare?: () => Promise<void>;
  readonly work: () => Promise<unknown>;
}

function jobsOf(
  fill: Fill,
  core: Core,
  other: Store,
  settings: Readonly<Record<string, string>>,
  folder: string,
): Record<string, Job> {
  const { reports } = ofBaseUrl(core);
  const linkOf = (nth: number) => ({ code: `code${nth}` as LinkKey, createdMs: CREATED_MS });
  const imported = (name: string, links: number, days: number): Job => ({
    async prepare() {
      const codes = Array.from({ length: links }, (_, nth) => `${name}${nth}`);
      writeFileSync(
        join(folder, name),
        ["code,target", ...codes.map((code) => `${code},https://example.com/`)].join("\n"),
      );
      const visits = codes.flatMap((code) =>
        Array.from({ length: days }, (_, age) => `${code},${isoDay(TODAY - age)},9`),
      );
      writeFileSync(join(folder, `${name}-days`), ["code,day,visits", ...visits].join("\n"));
    },
    work: () =>
      run(
        [
          "env",
          ...Object.entries(settings).map((setting) => setting.join("=")),
          process.execPath,
          "src/main.ts",
        ].concat(["import", "--visits", join(folder, `${name}-days`), join(folder, name)]),
        LOAD_CORE,
        IMPORT_LIMIT_MS,
      ),
  });
  return {
    nothing: { work: () => Bun.sleep(ALONE_MS) },
    "a purge of 100,000 links beside ended disabled ones": { work: () => core.links.purge() },
    "forgetting requests with 1 link": {
      prepare: () => fill.rows("requests", requestsOf(1)),
      work: () => core.links.purge(),
    },
    "forgetting requests with 100 links": {
      prepare: () => fill.rows("requests", { ...requestsOf(100), key: "'large' || n", sent_ms: "n" }, 20_000),
      work: () => core.links.purge(),
    },
    "closing days": { work: () => core.visits.age() },
    "forgetting days and sequences": {
      prepare: () =>
        fill.rows("visits", visitsOf(fill, { day: `${TODAY - 500}`, code: "'old' || n", state: "1" })),
      work: () => core.visits.age(),
    },
    "forgetting reporters and cases": { work: () => core.cases.age() },
    "reports with notes": {
      work: async () => {
        for (let nth = 0; nth < 2000; nth++)
          await reports.report(
            `code${nth + 1}`,
            { reason: "spam", note: "a note" },
            `10.0.${nth >> 8}.${nth & 255}`,
          );
      },
    },
    "changes of links": {
      work: async () => {
        for (let nth = 0; nth < 500; nth++)
          await other.update(linkOf(nth + 1), { type: "withdraw", atMs: Date.now() });
      },
    },
    "slices of visits": {
      work: async () => {
        const visits = Array.from({ length: 20_000 }, (_, nth) => ({
          ...linkOf(nth + 1),
          code: `code${nth + 1}`,
        }));
        for (const slice of slicesOf({ source: "new", hour: TODAY * 24, visits })) await other.add(slice);
      },
    },
    "erasing a link with 400 days": {
      prepare: () =>
        fill.rows(
          "visits",
          visitsOf(fill, { day: `${TODAY} - n`, code: "'bad9000'", state: "1", source: "'erased'" }),
          400,
        ),
      work: () => other.erase({ ...linkOf(0), code: "bad9000" as LinkKey }, { who: "api", atMs: Date.now() }),
    },
    "an import of 100,000 links": imported("many", 100_000, 0),
    "an import of 2,000 links with 365 days": imported("dated", 2000, 365),
  };
}

function requestsOf(links: number) {
  const response = JSON.stringify(
    Array.from({ length: links }, (_, nth) => ({
      nth,
      code: `code${nth + 1000}`,
      createdMs: CREATED_MS,
      endsMs: CREATED_MS,
    })),
  );
  return {
    key: "'key' || n",
    body: "'the hash of a body'",
    sent_ms: `${CREATED_MS} + n`,
    made: `'${response}'`,
  };
}

function visitsOf({ engine, blob }: Fill, { state, source = "'one'", ...key }: Record<string, string>) {
  const values = { ...key, created_ms: `${CREATED_MS}`, visits: "3", bots: "1", detail: blob(DETAIL) };
  return engine === "SQLite"
    ? values
    : { ...values, state: state ?? "0", source, sequence: "1", version: "1" };
}

async function fillAll(fill: Fill): Promise<void> {
  const link = { created_ms: `${CREATED_MS}`, original_url: "'https://www.example.com/articles/' || n" };
  await fill.rows("links", { ...link, code: "'code' || n" });
  await fill.rows("links", { ...link, code: "'bad' || n", ends_ms: `${CREATED_MS} + n`, disabled: "'spam'" });
  await fill.rows("links", { ...link, code: "'over' || n", ends_ms: `${CREATED_MS} + ${ROWS} + n` }, 99_000);
  const ofOpenDay =
    fill.engine === "SQLite"
      ? { day: `${TODAY - 2}`, code: "'code' || n" }
      : { day: `${TODAY - 2}`, code: `'code' || (n / ${SOURCES})`, source: `'source' || (n % ${SOURCES})` };
  await fill.rows("visits", visitsOf(fill, { ...ofOpenDay, state: "0" }));
  if (fill.engine === "SQLite") {
    await fill.rows("open_days", { day: `${TODAY - 2}`, code: "''", created_ms: "0" }, 1);
    await fill.rows("sources", { source: "'source' || n", sequence: "1", rows: "1", day: "5" });
  }
  await fill.rows(
    "visits",
    visitsOf(fill, { day: "0", code: "'over' || n", state: "1", source: "''" }),
    99_000,
  );
  const id = { code: "'code' || n", created_ms: `${CREATED_MS}` };
  await fill.rows("changes", { code: "'code' || n" });
  await fill.rows("journal", { at_ms: "n", who: "'api'", action: "'disable'", ...id });
  await fill.rows("hosts", { host: "'host' || n || '.example'", reason: "'spam'", since_ms: "n" });
  await fill.rows("reporters", { day: "5", reporter: "'reporter' || n", ...id });
  const times = { first_ms: "n", last_ms: "n", answered_ms: "n" };
  const closed = fill.engine === "SQLite" ? "0" : "FALSE";
  const counts = { reports: "1", reasons: `'{"spam":1}'`, pending: "0", answer: "'nothing'" };
  await fill.rows("cases", { is_open: closed, ...id, ...times, ...counts });
  await fill.rows("notes", { ...id, noted_ms: "n", reason: "'spam'", note: fill.blob("61".repeat(50)) });
  await fill.rows("counters", { day: "n / 10", name: "'name' || (n % 10)", count: "1" });
}

function ofBaseUrl(core: Core) {
  return core.forDomain({ keyPrefix: "", find: () => undefined });
}

/** Creates a link every few milliseconds. Each waits from when it was due, whatever held it up. */
async function waitsOfCreates(core: Core, work: () => Promise<unknown>) {
  const { links } = ofBaseUrl(core);
  const waitsMs: number[] = [];
  const faults: unknown[] = [];
  const pending = new Set<Promise<void>>();
  const progress = { isDone: false };
  const startMs = performance.now();
  const working = work().finally(() => (progress.isDone = true));
  for (let dueMs = startMs; !progress.isDone; dueMs += CREATE_EVERY_MS) {
    const earlyMs = dueMs - performance.now();
    if (earlyMs > 0) await Bun.sleep(earlyMs);
    else await new Promise(setImmediate);
    const waited: Promise<void> = create(dueMs).finally(() => pending.delete(waited));
    pending.add(waited);
  }

  async function create(dueMs: number): Promise<void> {
    try {
      const link = await links.create({
        originalUrl: "https://www.example.com/",
        terms: { expires_at: null },
      });
      if (isProblem(link)) throw new Error(JSON.stringify(link));
    } catch (error) {
      faults.push(error);
    }
    waitsMs.push(performance.now() - dueMs);
  }
  await working;
  const seconds = (performance.now() - startMs) / 1000;
  await Promise.all(pending);
  const sorted = waitsMs.toSorted((a, b) => a - b);
  return {
    "longest wait, ms": rounded(sorted.at(-1) ?? Number.NaN, 0),
    "p99, ms": rounded(sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN, 0),
    "median, ms": rounded(sorted[Math.floor(sorted.length / 2)] ?? Number.NaN, 1),
    "failed creates": faults.length,
    "it took, s": rounded(seconds, 1),
  };
}
