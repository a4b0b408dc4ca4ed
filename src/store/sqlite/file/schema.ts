// Recognizes our files, checks their schema before anything is written, and migrates them.
import { Database } from "bun:sqlite";
import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";

import { StoreUnusable } from "../../../links/link-store.ts";
import store from "../migrations/001-store.sql" with { type: "text" };
import decisions from "../migrations/002-decisions.sql" with { type: "text" };
import expiryEvents from "../migrations/003-expiry-events.sql" with { type: "text" };
import settings from "../migrations/004-settings.sql" with { type: "text" };
import refusedEvents from "../migrations/005-refused-events.sql" with { type: "text" };
import storeId from "../migrations/006-store-id.sql" with { type: "text" };
import codeCase from "../migrations/007-code-case.sql" with { type: "text" };
import owners from "../migrations/008-owners.sql" with { type: "text" };
import endedEvents from "../migrations/009-ended-events.sql" with { type: "text" };

/** In order. How many of them a file has is its schema version (PRAGMA user_version). @internal */
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

interface Part {
  /** With its type, such as "index links_by_end": a trigger may be called like a table. */
  readonly name: string;
  /** The table that it is, or belongs to. */
  readonly place: string;
  readonly sql: string | null;
}

const PARTS = "SELECT type || ' ' || name AS name, lower(tbl_name) AS place, sql FROM sqlite_schema";

/** "Curt" in ASCII: marks our files (PRAGMA application_id). */
export const APPLICATION_ID = 0x43757274;

/**
 * Refuses files of other programs and of a newer schema. Reads the header
 * (https://www.sqlite.org/fileformat2.html#the_database_header) without SQLite, which may write even when it only
 * reads.
 */
export function requireOurs(path: string): void {
  if (!existsSync(path)) return;
  if (!statSync(path).isFile())
    throw new StoreUnusable(`${path} is not a file. Point DATABASE_URL at a file.`);
  const { header, length } = readHeader(path);
  // Empty, or its creation was interrupted, which SQLite rolls back from the journal.
  if (length === 0 || existsSync(`${path}-journal`)) return;
  if (!isSqlite(header, length)) {
    throw new StoreUnusable(
      `${path} is not a SQLite file, or is damaged. Restore a backup or point DATABASE_URL elsewhere.`,
    );
  }
  if (header.getUint32(68) !== APPLICATION_ID) throw belongsToAnother(path);
  requireKnownVersion(path, header.getUint32(60));
}

export function isSqlite(header: DataView<ArrayBuffer>, length: number): boolean {
  const magic = new TextDecoder("latin1").decode(header.buffer.slice(0, 16));
  return length === header.byteLength && magic === "SQLite format 3\0";
}

/** Returns the header, padded with zeros, and how many bytes of it exist. */
export function readHeader(path: string): { header: DataView<ArrayBuffer>; length: number } {
  const header = new DataView(new ArrayBuffer(100));
  const descriptor = openSync(path, "r");
  try {
    return { header, length: readSync(descriptor, header) };
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Brings the file to the newest schema in one transaction. Two processes starting at the same time create it once, and
 * another program's file stays unchanged. Starts a transaction even if the schema is current, which refuses a file that
 * cannot be written.
 */
export function migrate(database: Database, path: string): void {
  database
    .transaction(() => {
      const version = schemaVersion(database);
      requireKnownVersion(path, version);
      if (version === 0) requireEmpty(database, path);
      for (const migration of MIGRATIONS.slice(version)) database.run(migration);
      if (version < MIGRATIONS.length) {
        database.run(`PRAGMA application_id = ${APPLICATION_ID}`);
        database.run(`PRAGMA user_version = ${MIGRATIONS.length}`);
      }
      requireSchema(database, path);
    })
    .immediate();
}

/** Refuses a file that the next start would migrate. */
export function requireCurrentVersion(database: Database, path: string): void {
  if (!isCurrent(database, path)) {
    throw new StoreUnusable(
      `${path} has schema ${schemaVersion(database)}; starting Curt brings it to ${MIGRATIONS.length}.`,
    );
  }
}

/** False for a file that the next start would migrate. Refuses one of a newer version. */
export function isCurrent(database: Database, path: string): boolean {
  const version = schemaVersion(database);
  requireKnownVersion(path, version);
  return version === MIGRATIONS.length;
}

/** Requires everything that the migrations create, and nothing else on our tables. Other tables are fine. */
export function requireSchema(database: Database, path: string): void {
  using fresh = new Database(":memory:");
  for (const migration of MIGRATIONS) fresh.run(migration);
  const expected = fresh.query<Part, []>(PARTS).all();
  const actual = database.query<Part, []>(PARTS).all();
  const differing = expected.filter(({ name, sql }) => actual.find((one) => one.name === name)?.sql !== sql);
  if (differing.length > 0) {
    throw new StoreUnusable(
      `${path} lacks or has changed: ${namesOf(differing)} of schema ${MIGRATIONS.length}. Restore a backup.`,
    );
  }
  const foreign = actual.filter(
    ({ name, place }) =>
      expected.some((one) => one.place === place) && !expected.some((one) => one.name === name),
  );
  if (foreign.length > 0) {
    throw new StoreUnusable(
      `${path} has parts that Curt did not create: ${namesOf(foreign)}. They could change links. Drop them, or restore another backup.`,
    );
  }
}

function namesOf(parts: readonly Part[]): string {
  return parts.map(({ name }) => name).join(", ");
}

function schemaVersion(database: Database): number {
  return database.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
}

function requireKnownVersion(path: string, version: number): void {
  if (version > MIGRATIONS.length) {
    throw new StoreUnusable(
      `${path} has schema ${version}, created by a newer Curt; this one knows ${MIGRATIONS.length}. Use the newer version.`,
    );
  }
}

/** Refuses another program's file whose header was unreadable until SQLite rolled back its journal. */
function requireEmpty(database: Database, path: string): void {
  if (database.query("SELECT 1 FROM sqlite_schema").get() !== null) throw belongsToAnother(path);
}

function belongsToAnother(path: string): StoreUnusable {
  return new StoreUnusable(`${path} belongs to another program. Point DATABASE_URL at a file of Curt's own.`);
}
