import type { Config } from "../config/config.ts";
import type { Code, CodeCase, LinkKey } from "../links/code.ts";
import type { LinkStore } from "../links/link-store.ts";
import type { ModerationStore } from "../moderation/moderation-store.ts";
import type { VisitStore } from "../visits/days/visit-store.ts";
import type { PostgresOptions } from "./postgres/postgres-store.ts";
import type { LinkImporter, Records, StoreReport, WriteRecords } from "./shared/records.ts";
import type { Statements } from "./shared/sql.ts";
import { identify } from "./sqlite/file/file-identity.ts";
import { checkFile, hasFile } from "./sqlite/file/file.ts";
import { fillSqliteStore, openSqliteImporter, openSqliteRecords, removeEmptyFile } from "./sqlite/records.ts";
import {
  openSqliteReader,
  openSqliteStore,
  type StoreOptions as SqliteOptions,
} from "./sqlite/sqlite-store.ts";
import { openSqliteStatements } from "./sqlite/statements.ts";

type Address = Config["database"];

/** Each engine uses its own options. */
export interface StoreOptions extends SqliteOptions, PostgresOptions {}

/** With the keys of links, as every implementation has it, or with codes, for the methods that a domain offers. */
export type Store<Id extends Code | LinkKey = LinkKey> = LinkStore<Id> & VisitStore<Id> & ModerationStore<Id>;

/** Loaded only where it is configured: SQLite instances start faster without it. */
const postgres = () => import("./postgres/postgres-store.ts");

/** Opens the configured store, and creates or migrates it where needed. Throws {@link StoreUnusable}. */
export async function openStore(database: Address, options?: StoreOptions): Promise<Store> {
  return database.engine === "sqlite"
    ? openSqliteStore(database.path, options)
    : (await postgres()).openPostgresStore(database, options);
}

/** Whether the configured store exists. */
export async function hasStore(database: Address): Promise<boolean> {
  return database.engine === "sqlite"
    ? hasFile(database.path)
    : (await postgres()).hasPostgresStore(database);
}

/** Identifies the files of a store that is open. */
export function identifyStore(database: Address): readonly string[] {
  return database.engine === "sqlite" ? identify(database.path) : [];
}

/** The methods that read a store which other threads or processes have open. */
export type StoreReader = Pick<LinkStore, "find" | "findAll" | "owned"> &
  Pick<VisitStore, "sums" | "days" | "daySums" | "visited"> &
  Pick<ModerationStore, "hosts" | "decisions" | "search" | "figures" | "cases" | "caseOf" | "openCases"> & {
    close(): Promise<void>;
  };

export async function openReader(
  database: Address,
  openElsewhere: NonNullable<Config["openElsewhere"]>,
): Promise<StoreReader> {
  return database.engine === "sqlite"
    ? openSqliteReader(database.path, openElsewhere)
    : (await postgres()).openPostgresReader(database);
}

/** No request waits for these statements. */
const STATEMENT_MS = 10_000;

/**
 * Opens a separate connection for statements. `opened`: the files that this process has open, if any. Throws
 * {@link StoreUnusable}.
 */
export async function openStatements(
  database: Address,
  opened?: readonly string[],
): Promise<Statements & { close(): Promise<void> }> {
  if (database.engine === "postgres") {
    const { openDatabase } = await import("./postgres/connection/database.ts");
    return openDatabase(database, { connections: 1, limitMs: STATEMENT_MS });
  }
  return openSqliteStatements(database.path, opened);
}

const postgresRecords = () => import("./postgres/records.ts");

/** Opens a store to be exported. Throws {@link StoreUnusable}. */
export async function openRecords(database: Address): Promise<Records> {
  return database.engine === "sqlite"
    ? openSqliteRecords(database.path)
    : (await postgresRecords()).openPostgresRecords(database);
}

/**
 * Fills an empty store, created or migrated where needed, in one transaction. If `work` rejects or the process is killed,
 * the store stays empty. A store that is filled keeps `codeCase`. Resolves with undefined if the store isn't empty. Throws {@link StoreUnusable}.
 */
export async function fillStore<T>(
  database: Address,
  codeCase: CodeCase,
  work: (write: WriteRecords) => Promise<T>,
): Promise<T | undefined> {
  return database.engine === "sqlite"
    ? fillSqliteStore(database.path, codeCase, work)
    : (await postgresRecords()).fillPostgresStore(database, codeCase, work);
}

/** Opens a store to import links, created or migrated where needed. A new one keeps `codeCase`. Throws {@link StoreUnusable}. */
export async function openImporter(database: Address, codeCase: CodeCase): Promise<LinkImporter> {
  return database.engine === "sqlite"
    ? openSqliteImporter(database.path, codeCase)
    : (await postgresRecords()).openPostgresImporter(database, codeCase);
}

/** Removes a store that an import created and added nothing to. The empty tables of PostgreSQL stay. */
export function removeEmptyStore(database: Address): void {
  if (database.engine === "sqlite") removeEmptyFile(database.path);
}

/** Reads the whole configured store. Undefined if there is none yet. Throws {@link StoreUnusable}. */
export async function checkStore(database: Address): Promise<StoreReport | undefined> {
  return database.engine === "sqlite"
    ? checkFile(database.path)
    : (await postgres()).checkPostgresStore(database);
}
