import { StoreUnusable } from "../../links/link-store.ts";
import type { Database, Run } from "./connection/database.ts";
import store from "./migrations/001-store.sql" with { type: "text" };
import decisions from "./migrations/002-decisions.sql" with { type: "text" };
import expiryEvents from "./migrations/003-expiry-events.sql" with { type: "text" };
import settings from "./migrations/004-settings.sql" with { type: "text" };
import refusedEvents from "./migrations/005-refused-events.sql" with { type: "text" };
import storeId from "./migrations/006-store-id.sql" with { type: "text" };
import codeCase from "./migrations/007-code-case.sql" with { type: "text" };
import owners from "./migrations/008-owners.sql" with { type: "text" };
import endedEvents from "./migrations/009-ended-events.sql" with { type: "text" };

/** In order. How many of them a database has is its schema version. @internal */
export const MIGRATIONS = [
  store,
  decisions,
  expiryEvents,
  settings,
  refusedEvents,
  storeId,
  codeCase,
  owners,
  endedEvents,
];

/** For all migrations together, and for waiting until another process has made them. */
const MIGRATE_MS = 3_600_000;

/** "Curt" in ASCII. Only migrations take this lock, never a request. */
const LOCK = 0x43_75_72_74;

const ENCODING = "SHOW server_encoding";
const HAS_SCHEMA = "SELECT to_regclass('curt') IS NOT NULL AS found";
const SCHEMA = "CREATE TABLE IF NOT EXISTS curt (version integer NOT NULL)";
const VERSION = "SELECT version FROM curt";
const KEEP_VERSION = `
  WITH changed AS (UPDATE curt SET version = $1 RETURNING version)
  INSERT INTO curt (version) SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM changed)`;

/** Brings the database to the newest schema. Several processes may do so at once. Throws {@link StoreUnusable}. */
export async function migrate(database: Database, migrations: readonly string[] = MIGRATIONS): Promise<void> {
  await database.within(MIGRATE_MS).transaction(async (run) => {
    await run("SELECT pg_advisory_xact_lock($1)", [LOCK]);
    await requireEncoding(run);
    await run(SCHEMA);
    const version = await schemaVersion(run);
    requireKnownVersion(version, migrations);
    for (const migration of migrations.slice(version)) await run(migration);
    if (version < migrations.length) await run(KEEP_VERSION, [migrations.length]);
  });
}

/** In others, some codes and URLs cannot be stored. Throws {@link StoreUnusable}. */
export async function requireEncoding(run: Run): Promise<void> {
  const { rows } = await run<{ server_encoding: string }>(ENCODING);
  const encoding = rows[0]?.server_encoding;
  if (encoding !== "UTF8") {
    throw new StoreUnusable(
      `The database has the encoding ${encoding}, and Curt needs UTF8. Create it with ENCODING 'UTF8'.`,
    );
  }
}

/** Whether Curt has used the database before. */
export async function hasSchema(run: Run): Promise<boolean> {
  const { rows } = await run<{ found: boolean }>(HAS_SCHEMA);
  return rows[0]?.found === true && (await schemaVersion(run)) > 0;
}

/** Refuses a database that the next start would migrate. Throws {@link StoreUnusable}. */
export async function requireCurrentVersion(run: Run): Promise<void> {
  const version = await schemaVersion(run);
  requireKnownVersion(version, MIGRATIONS);
  if (version < MIGRATIONS.length) {
    throw new StoreUnusable(
      `The database has schema ${version}; starting Curt brings it to ${MIGRATIONS.length}.`,
    );
  }
}

async function schemaVersion(run: Run): Promise<number> {
  const { rows } = await run<{ version: number }>(VERSION);
  return rows[0]?.version ?? 0;
}

function requireKnownVersion(version: number, migrations: readonly string[]): void {
  if (version > migrations.length) {
    throw new StoreUnusable(
      `The database has schema ${version}, created by a newer Curt; this one knows ${migrations.length}. Use the newer version.`,
    );
  }
}
