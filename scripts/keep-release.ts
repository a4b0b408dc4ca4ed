// `npm run keep-release` fills a store of each engine with records of every kind and saves both in test/releases/<version>/, with an
// export and a backup, for test/stores/releases.test.ts. Run it for each release that has a new schema or writes new records.
import { Database } from "bun:sqlite";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { version } from "../package.json";
import { fill, type Kept, TOKENS } from "../test/releases/fill.ts";
import { startPostgres } from "../test/support/postgres.ts";
import { startProgram, temporaryFolder } from "../test/support/service.ts";
import { ROOT } from "./development.ts";

/** The table with the highest number of each table with AUTOINCREMENT. */
const SEQUENCES = "sqlite_sequence";

const FOLDER = join(ROOT, "test/releases", version);

// What a release wrote stays as it is.
if (Bun.spawnSync(["git", "rev-parse", "--verify", "--quiet", `v${version}`], { cwd: ROOT }).success)
  throw new Error(`${version} is released: set the next version first`);
rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
await saveSqlite();
await savePostgres();
console.log(FOLDER);

async function saveSqlite(): Promise<void> {
  using folder = temporaryFolder();
  const path = join(folder.path, "curt.db");
  const settings = { DATABASE_URL: `sqlite:${path}` };
  const expected = await fillStore(settings, folder.path);
  save("sqlite", expected, dumpSqlite(path));
  runCommand(settings, "export", join(FOLDER, "export.ndjson"));
  const backup = join(folder.path, "backup.db");
  runCommand(settings, "backup", backup);
  writeFileSync(join(FOLDER, "backup.db.gz"), Bun.gzipSync(readFileSync(backup)));
}

async function savePostgres(): Promise<void> {
  await using server = await startPostgres();
  using folder = temporaryFolder();
  const expected = await fillStore(
    { DATABASE_URL: await server.url("expected"), DATA_DIR: folder.path },
    folder.path,
  );
  save("postgres", expected, await dumpPostgres(server.query));
}

async function fillStore(settings: Record<string, string>, folder: string): Promise<Kept> {
  await using program = await startProgram(
    {
      BASE_URL: "https://go.example.com",
      EVENTS_URL: "http://127.0.0.1:9/",
      EVENTS_SECRET: `whsec_${btoa("s".repeat(32))}`,
      ...TOKENS,
      ...settings,
    },
    { folder },
  );
  const expected = await fill(program.origin);
  program.kill("SIGTERM");
  await program.exited;
  return expected;
}

function runCommand(settings: Record<string, string>, ...command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, join(ROOT, "src/main.ts"), ...command], {
    env: { ...process.env, ...settings },
  });
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr.toString()}`);
}

function save(engine: string, expected: Kept, statements: readonly string[]): void {
  writeFileSync(join(FOLDER, `${engine}.sql`), `${statements.join(";\n")};\n`);
  writeFileSync(join(FOLDER, `${engine}.json`), `${JSON.stringify(expected, undefined, 2)}\n`);
}

function migrationsOf(engine: string): string[] {
  const folder = join(ROOT, "src/store", engine, "migrations");
  return readdirSync(folder)
    .toSorted()
    .map((file) => readFileSync(join(folder, file), "utf8"));
}

/** Statements that create the same file, with rowids, which show the order of links. */
function dumpSqlite(path: string): string[] {
  using database = new Database(path);
  const parts = database
    .query<{ name: string; sql: string; type: string }, []>(
      "SELECT name, sql, type FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type = 'trigger', type = 'index'",
    )
    .all();
  // Inserts change it, so it comes last.
  const tables = parts
    .filter(({ type }) => type === "table")
    .toSorted((one, other) => Number(one.name === SEQUENCES) - Number(other.name === SEQUENCES));
  const schema = parts.filter(({ name }) => !name.startsWith("sqlite_")).map(({ sql }) => sql);
  const pragmas = ["application_id", "user_version"].map((name) => {
    const [value] = Object.values(database.query<Record<string, number>, []>(`PRAGMA ${name}`).get() ?? {});
    return `PRAGMA ${name} = ${value}`;
  });
  return [...schema, ...tables.flatMap((table) => rowsOf(database, table)), ...pragmas];
}

function rowsOf(database: Database, { name, sql }: { name: string; sql: string }): string[] {
  const columns = database.query<{ name: string }, []>(`PRAGMA table_info(${name})`).all();
  const names = columns.map((column) => column.name);
  if (!/WITHOUT ROWID/.test(sql)) names.unshift("rowid");
  const values = names.map((column) => `quote(${column})`).join(" || ', ' || ");
  const rows = database.query<{ row: string }, []>(`SELECT ${values} AS row FROM ${name} ORDER BY 1`).all();
  const inserts = rows.map(({ row }) => `INSERT INTO ${name} (${names.join(", ")}) VALUES (${row})`);
  return name === SEQUENCES ? [`DELETE FROM ${SEQUENCES}`, ...inserts] : inserts;
}

async function dumpPostgres(
  query: (text: string, database: string) => Promise<readonly Record<string, unknown>[]>,
) {
  const run = (text: string) => query(text, "expected");
  const names = async (text: string) => (await run(text)).map((row) => String(row["name"]));
  const tables = await names(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1",
  );
  const statements: string[] = [
    ...migrationsOf("postgres").map((migration) => migration.trim().replace(/;$/, "")),
    "CREATE TABLE curt (version integer NOT NULL)",
  ];
  for (const table of tables) {
    const columns = await names(
      `SELECT attname AS name FROM pg_attribute WHERE attrelid = '${table}'::regclass AND attnum > 0 ORDER BY attnum`,
    );
    const values = columns.map((column) => `quote_nullable(${column}::text)`).join(" || ', ' || ");
    const rows = await names(`SELECT ${values} AS name FROM ${table} ORDER BY 1`);
    // Migrations fill some tables themselves. The journal, which they leave empty, cannot be truncated.
    if (rows.length > 0 && table !== "journal") statements.push(`TRUNCATE ${table}`);
    for (const row of rows) statements.push(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${row})`);
    const numbered = await names(
      `SELECT attname AS name FROM pg_attribute WHERE attrelid = '${table}'::regclass AND attidentity <> ''`,
    );
    for (const column of numbered) {
      const sequence = `pg_get_serial_sequence('${table}', '${column}')`;
      statements.push(`SELECT setval(${sequence}, (SELECT coalesce(max(${column}), 1) FROM ${table}))`);
    }
  }
  return statements;
}
