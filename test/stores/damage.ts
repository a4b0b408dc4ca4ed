import { Database } from "bun:sqlite";
import { closeSync, openSync, readSync, writeSync } from "node:fs";

const PAGE_BYTES = 4096;
/** https://www.sqlite.org/fileformat2.html#b_tree_pages */
const INTERIOR_TABLE = 5;

/** Overwrites every page of a store's file except those of the schema, as a failing disk would. */
export function damageStore(file: string): void {
  const database = new Database(file);
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const { page_count: pages } = database.query("PRAGMA page_count").get() as { page_count: number };
  database.close();
  const descriptor = openSync(file, "r+");
  const schema = schemaPages(descriptor);
  const damage = Buffer.alloc(PAGE_BYTES, 0x5a);
  for (let page = 1; page <= pages; page++)
    if (!schema.has(page)) writeSync(descriptor, damage, 0, PAGE_BYTES, (page - 1) * PAGE_BYTES);
  closeSync(descriptor);
}

/** The first page, and the pages it points to if the schema doesn't fit. */
function schemaPages(descriptor: number): ReadonlySet<number> {
  const first = new DataView(new ArrayBuffer(PAGE_BYTES));
  readSync(descriptor, first, 0, PAGE_BYTES, 0);
  // The header of the file comes before that of the page.
  const at = 100;
  if (first.getUint8(at) !== INTERIOR_TABLE) return new Set([1]);
  const cells = first.getUint16(at + 3);
  const children = Array.from({ length: cells }, (_, nth) =>
    first.getUint32(first.getUint16(at + 12 + 2 * nth)),
  );
  return new Set([1, first.getUint32(at + 8), ...children]);
}
