// `npm run keep-schema [CHECKOUT]`: lets a version of Curt fill a store of each engine with something of everything,
// and keeps both in test/schemas/, for test/schemas.test.ts. Run it for each release that has a new schema.
import { Database } from "bun:sqlite";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { startPostgres } from "../test/postgres.ts";
import { fill } from "../test/schemas/fill.ts";
import { startProgram, temporaryFolder } from "../test/service.ts";
import { ROOT } from "./development.ts";

const checkout = resolve(process.argv[2] ?? ROOT);
const command = [process.execPath, join(checkout, "src/main.ts"), "serve"];
/** The highest number that each table with AUTOINCREMENT gave. */
const SEQUENCES = "sqlite_sequence";
const BASE_URL = "https://go.example.com";

await keepSqlite();
if (migrationsOf("postgres").length > 0) await keepPostgres();

function migrationsOf(engine: string): string[] {
  const folder = join(checkout, "src/store", engine, "migrations");
  try {
    return readdirSync(folder)
      .toSorted()
      .map((file) => readFileSync(join(folder, file), "utf8"));
  } catch {
    return [];
  }
}

async function filled(settings: Record<string, string>, folder: string) {
  const program = await startProgram(
    { BASE_URL, ADMIN_TOKEN: "a".repeat(32), ...settings },
    { command, folder },
  );
  const told = await fill(program.origin, "a".repeat(32));
  program.kill("SIGTERM");
  await program.exited;
  return told;
}

async function keepSqlite(): Promise<void> {
  using folder = temporaryFolder();
  const path = join(folder.path, "curt.db");
  const told = await filled({ DATABASE_URL: `sqlite:${path}` }, folder.path);
  const version = migrationsOf("sqlite").length;
  // Visits were not counted yet.
  const links = told.links.map((link) => (version === 1 ? { ...link, visits: 0, bots: 0 } : link));
  keep("sqlite", version, { ...told, links }, dumpSqlite(path));
}

async function keepPostgres(): Promise<void> {
  await using server = await startPostgres();
  using folder = temporaryFolder();
  const told = await filled({ DATABASE_URL: await server.url("kept"), DATA_DIR: folder.path }, folder.path);
  keep("postgres", migrationsOf("postgres").length, told, await dumpPostgres(server.ask));
}

function keep(engine: string, version: number, told: unknown, statements: readonly string[]): void {
  const path = join(ROOT, "test/schemas", `${engine}-${String(version).padStart(3, "0")}`);
  writeFileSync(`${path}.sql`, `${statements.join(";\n")};\n`);
  writeFileSync(`${path}.json`, `${JSON.stringify(told, undefined, 2)}\n`);
  console.log(path);
}

/** What makes the same file: with the rowids, which tell in what order links were made. */
function dumpSqlite(path: string): string[] {
  using database = new Database(path);
  const parts = database
    .query<{ name: string; sql: string; type: string }, []>(
      "SELECT name, sql, type FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type = 'trigger', type = 'index'",
    )
    .all();
  // Rows that are inserted change it, so it comes last.
  const tables = parts
    .filter(({ type }) => type === "table")
    .toSorted((one, other) => Number(one.name === SEQUENCES) - Number(other.name === SEQUENCES));
  const made = parts.filter(({ name }) => !name.startsWith("sqlite_")).map(({ sql }) => sql);
  const pragmas = ["application_id", "user_version"].map((name) => {
    const [value] = Object.values(database.query<Record<string, number>, []>(`PRAGMA ${name}`).get() ?? {});
    return `PRAGMA ${name} = ${value}`;
  });
  return [...made, ...tables.flatMap((table) => rowsOf(database, table)), ...pragmas];
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
  ask: (text: string, database: string) => Promise<readonly Record<string, unknown>[]>,
) {
  const run = (text: string) => ask(text, "kept");
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
  }
  return statements;
}
