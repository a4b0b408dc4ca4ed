import { Database } from "bun:sqlite";
import { closeSync, openSync, writeSync } from "node:fs";

/** Overwrites every page of a store's file but the first, whose schema stays readable, as a failing disk would. */
export function makeUnreadable(file: string): void {
  const database = new Database(file);
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const { page_count: pages } = database.query("PRAGMA page_count").get() as { page_count: number };
  database.close();
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, Buffer.alloc((pages - 1) * 4096, 0x5a), 0, (pages - 1) * 4096, 4096);
  closeSync(descriptor);
}
