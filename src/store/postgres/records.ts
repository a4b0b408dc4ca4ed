// A PostgreSQL database as records: read for an export, filled from one, or extended by an import.
import { describeStore, type PostgresAddress } from "../../config/database-url.ts";
import type { CodeCase } from "../../links/code.ts";
import { StoreUnusable } from "../../links/link-store.ts";
import { HOUR_MS } from "../../links/time.ts";
import { RECORD_TABLES, type Scan, type Tables } from "../shared/record-tables.ts";
import {
  CLEAR,
  IS_EMPTY,
  type LinkImporter,
  type Records,
  SIZE,
  type WriteRecords,
} from "../shared/records.ts";
import { compareHosts, readCodeCase, keepCodeCase } from "../shared/remembered-settings.ts";
import { type Database, openDatabase, reach, type Run } from "./connection/database.ts";
import { isServed } from "./instances.ts";
import { createImporter, linkRecords } from "./link-records.ts";
import { createLinksReader } from "./link-updates.ts";
import { hasSchema, migrate, requireCurrentVersion } from "./schema.ts";
import { identityOf } from "./store-identity.ts";
import { newestSaltDay } from "./visit-queries.ts";

/** Generous, because no request waits for these statements. */
const STATEMENT_MS = 60_000;
/** A billion links take hours to count, read or write. */
const ALL_MS = 24 * HOUR_MS;

/** The reader of a pipe may be slow. */
const WAIT = `SET LOCAL idle_in_transaction_session_timeout = ${HOUR_MS}`;
const SNAPSHOT = ["SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY", WAIT];
/** Until the transaction ends, others can read the tables but not write to them. */
const LOCK = [
  WAIT,
  "SET LOCAL lock_timeout = 5000",
  "LOCK TABLE instances, links, visits, hosts, journal, replaced, cases, secrets, counters, requests IN SHARE ROW EXCLUSIVE MODE",
];
const FINISH = [
  "UPDATE link_count SET links = (SELECT count(*) FROM links)",
  // The first requests need good plans.
  "ANALYZE links, visits, cases, journal, replaced",
  // The next entry is later than all others.
  "SELECT setval(pg_get_serial_sequence('journal', 'entry'), 1 + coalesce(max(entry), 0), false) FROM journal",
];

/** Records in a batch. */
const BATCH_ROWS = 1000;
/** A stream can't be repeated after a conflict. */
const ONE_TRY = 1;

/** Opens a database that has a store. Throws {@link StoreUnusable}. */
export function openPostgresRecords(address: PostgresAddress): Promise<Records> {
  return openWith(address, async (database) => {
    if (!(await hasSchema(database.run)))
      throw new StoreUnusable(`${describeStore(address)} is no store of Curt's yet.`);
    await requireCurrentVersion(database.run);
    const all = database.within(ALL_MS);
    return {
      find: createLinksReader(database).find,
      newestSaltDay: () => newestSaltDay(database.run),
      isFillable: () => isFillable(database.run, address),
      identity: () => identityOf(database.run, address),
      codeCase: (wanted) => readCodeCase(database.run, wanted),
      hosts: (domainHosts) => compareHosts(database.run, domainHosts),
      size: async () => (await all.run<{ size: number }>(SIZE)).rows[0]?.size ?? 0,
      snapshot: (work) =>
        all.transaction(async (run) => {
          for (const statement of SNAPSHOT) await run(statement);
          const tables = tablesOf(run);
          return work((kind) => tables[kind].read(scanOn(run), run));
        }, ONE_TRY),
      close: database.close,
    };
  });
}

/** Opens a database to import links, created or migrated where needed. Throws {@link StoreUnusable}. */
export function openPostgresImporter(address: PostgresAddress, codeCase: CodeCase): Promise<LinkImporter> {
  return openMigrated(address, async (database) => ({
    ...createImporter(database),
    codeCase: await keepCodeCase(database.run, codeCase),
  }));
}

/** See `fillStore` in `open.ts`. */
export async function fillPostgresStore<T>(
  address: PostgresAddress,
  codeCase: CodeCase,
  work: (write: WriteRecords) => Promise<T>,
): Promise<T | undefined> {
  const database = await openMigrated(address, (opened) => opened);
  try {
    return await database.within(ALL_MS).transaction(async (run) => {
      for (const statement of LOCK) await run(statement);
      if (!(await isFillable(run, address))) return undefined;
      for (const statement of CLEAR) await run(statement);
      await keepCodeCase(run, codeCase);
      const tables = tablesOf(run);
      const result = await work((kind, records) => tables[kind].write(run, records));
      for (const statement of FINISH) await run(statement);
      return result;
    }, ONE_TRY);
  } finally {
    await database.close();
  }
}

function openMigrated<T>(address: PostgresAddress, open: (database: Database) => T | Promise<T>): Promise<T> {
  return openWith(address, async (database) => {
    await migrate(database);
    return open(database);
  });
}

/** Closes the database if `open` fails. */
async function openWith<T>(address: PostgresAddress, open: (database: Database) => Promise<T>): Promise<T> {
  const database = openDatabase(address, { connections: 1, limitMs: STATEMENT_MS });
  try {
    return await reach(address, {}, () => open(database));
  } catch (error) {
    await database.close();
    throw error;
  }
}

function tablesOf(run: Run): Tables {
  return { ...RECORD_TABLES, ...linkRecords(run) };
}

function scanOn(run: Run): Scan {
  return async function* scan(statement) {
    await run(`DECLARE records NO SCROLL CURSOR FOR ${statement}`);
    for (;;) {
      const { rows } = await run(`FETCH ${BATCH_ROWS} FROM records`);
      if (rows.length === 0) break;
      yield rows;
    }
    await run("CLOSE records");
  };
}

async function isFillable(run: Run, address: PostgresAddress): Promise<boolean> {
  const [row] = (await run<{ isEmpty: boolean }>(IS_EMPTY)).rows;
  if (row?.isEmpty !== true) return false;
  if (await isServed(run))
    throw new StoreUnusable(
      `${describeStore(address)} is being served, and an import replaces the secret of its manage keys. Stop Curt on every machine; a Curt that was killed counts for another minute.`,
    );
  return true;
}
