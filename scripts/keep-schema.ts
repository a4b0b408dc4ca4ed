// `npm run keep-schema` fills a store of each engine with records of every kind and saves both in test/schemas/, for
// test/stores/schemas.test.ts. Run it for each release that has a new schema.
import { Database } from "bun:sqlite";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { fill, type Kept } from "../test/schemas/fill.ts";
import { startPostgres } from "../test/support/postgres.ts";
import { startProgram, temporaryFolder } from "../test/support/service.ts";
import { ROOT } from "./development.ts";

/** The table with the highest number of each table with AUTOINCREMENT. */
const SEQUENCES = "sqlite_sequence";
const ADMIN_TOKEN = "a".repeat(32);

await saveSqlite();
await savePostgres();

function migrationsOf(engine: string): string[] {
  const folder = join(ROOT, "src/store", engine, "migrations");
  return readdirSync(folder)
    .toSorted()
    .map((file) => readFileSync(join(folder, file), "utf8"));
}

async function fillStore(settings: Record<string, string>, folder: string): Promise<Kept> {
  await using program = await startProgram(
    { BASE_URL: "https://go.example.com", ADMIN_TOKEN, ...settings },
    { folder },
  );
  const expected = await fill(program.origin, ADMIN_TOKEN);
  program.kill("SIGTERM");
  await program.exited;
  return expected;
}

async function saveSqlite(): Promise<void> {
  using folder = temporaryFolder();
  const path = join(folder.path, "curt.db");
  const expected = await fillStore({ DATABASE_URL: `sqlite:${path}` }, folder.path);
  save("sqlite", expected, dumpSqlite(path));
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

function save(engine: string, expected: Kept, statements: readonly string[]): void {
  const version = String(migrationsOf(engine).length).padStart(3, "0");
  const path = join(ROOT, "test/schemas", `${engine}-${version}`);
  writeFileSync(`${path}.sql`, `${statements.join(";\n")};\n`);
  writeFileSync(`${path}.json`, `${JSON.stringify(expected, undefined, 2)}\n`);
  console.log(path);
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
