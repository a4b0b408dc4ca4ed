// A SQLite file as records: read for an export, filled from one, or extended by an import.
import type { Database } from "bun:sqlite";
import { rmSync } from "node:fs";

import type { CodeCase } from "../../links/code.ts";
import { StoreUnusable, SyncFailed } from "../../links/link-store.ts";
import { RECORD_TABLES, type Tables } from "../shared/record-tables.ts";
import {
  CLEAR,
  IS_EMPTY,
  type LinkImporter,
  type Records,
  SIZE,
  type WriteRecords,
} from "../shared/records.ts";
import { compareHosts, readCodeCase, keepCodeCase } from "../shared/remembered-settings.ts";
import { identify } from "./file/file-identity.ts";
import { closeWriter, hasFile, openChecked, openWriter } from "./file/file.ts";
import { createImporter, linkRecords } from "./link-records.ts";
import { createReader } from "./reader.ts";
import { fail, runOn, scanOn, trying } from "./sql.ts";

/** Opens an existing file. Throws {@link StoreUnusable}. */
export function openSqliteRecords(path: string): Records {
  const database = openChecked(path);
  if (database === undefined) throw new StoreUnusable(`${path} does not exist.`);
  const tables = tablesOf(database);
  const reader = createReader(path, identify(path));
  return {
    find: async (code) => reader.find(code),
    newestSaltDay: async () => reader.newestSaltDay(),
    isFillable: async () => isEmpty(database),
    identity: async () => reader.identity(),
    codeCase: (wanted) => readCodeCase(runOn(database, fail), wanted),
    hosts: (domainHosts) => compareHosts(runOn(database, fail), domainHosts),
    size: async () => trying(() => database.query<{ size: number }, []>(SIZE).get()?.size ?? 0),
    async snapshot(work) {
      // The write-ahead log keeps later commits apart.
      trying(() => database.run("BEGIN"));
      try {
        return await work((kind) => tables[kind].read(scanOn(database), runOn(database, fail)));
      } finally {
        trying(() => database.run("COMMIT"));
      }
    },
    async close() {
      reader.close();
      database.close();
    },
  };
}

/** Opens a file to import links, created or migrated where needed. Throws {@link StoreUnusable}. */
export async function openSqliteImporter(path: string, codeCase: CodeCase): Promise<LinkImporter> {
  const database = openWriter(path);
  const importer = createImporter(database);
  try {
    return { ...importer, codeCase: await keepCodeCase(runOn(database, fail), codeCase) };
  } catch (error) {
    await importer.close();
    throw error;
  }
}

/** See `fillStore` in `open.ts`. */
export async function fillSqliteStore<T>(
  path: string,
  codeCase: CodeCase,
  work: (write: WriteRecords) => Promise<T>,
): Promise<T | undefined> {
  const database = openWriter(path);
  let hasFailedSync = false;
  try {
    trying(() => database.run("BEGIN IMMEDIATE"));
    if (!isEmpty(database)) return undefined;
    for (const statement of CLEAR) trying(() => database.run(statement));
    await keepCodeCase(runOn(database, fail), codeCase);
    const tables = tablesOf(database);
    const result = await work((kind, records) => tables[kind].write(runOn(database), records).catch(fail));
    trying(() => database.run("COMMIT"));
    return result;
  } catch (error) {
    hasFailedSync = error instanceof SyncFailed;
    throw error;
  } finally {
    if (database.inTransaction) database.run("ROLLBACK");
    // Closing would try the sync again.
    if (!hasFailedSync) trying(() => closeWriter(database));
  }
}

/** Removes the file of an import that added nothing. Holds the writers' lock meanwhile, so that no process writes to it. */
export function removeEmptyFile(path: string): void {
  if (!hasFile(path)) return;
  const database = openWriter(path);
  try {
    trying(() => database.run("BEGIN IMMEDIATE"));
    if (isEmpty(database))
      for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true });
    database.run("ROLLBACK");
  } finally {
    database.close();
  }
}

function tablesOf(database: Database): Tables {
  return { ...RECORD_TABLES, ...linkRecords(database) };
}

function isEmpty(database: Database): boolean {
  return trying(() => database.query<{ isEmpty: number }, []>(IS_EMPTY).get()?.isEmpty === 1);
}
