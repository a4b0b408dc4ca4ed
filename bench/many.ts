import { Database } from "bun:sqlite";
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

import { startCurt } from "./curt.ts";
import { type BenchLink, originalUrl, shuffled } from "./links.ts";

/** The alphabet of generated codes. */
const ALPHABET = "23456789bcdfghjkmnpqrstvwxyzBCDFGHJKLMNPQRSTVWXYZ";
const CODE_LENGTH = 7;
const RUN = "many-links";
const TRANSACTION_ROWS = 100_000;
/** The index of codes stays in memory while it is made, in KiB. */
const CACHE_KIB = 1_000_000;

/**
 * A database of `count` links in `folder`; made anew, or copied from `cache` where an earlier run has left it there.
 * Its schema is made by the program itself.
 */
export async function prepareManyLinks(folder: string, cache: string, count: number): Promise<string> {
  mkdirSync(cache, { recursive: true });
  const kept = join(cache, `${count}-links.db`);
  if (!existsSync(kept)) {
    // Under this name only once it is whole.
    const unfinished = join(cache, `${count}-links-unfinished`);
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(unfinished);
    await makeManyLinks(join(unfinished, "curt.db"), count);
    renameSync(join(unfinished, "curt.db"), kept);
    rmSync(unfinished, { recursive: true, force: true });
  }
  if (cache === folder) return kept;
  const copy = join(folder, `${count}-links.db`);
  copyFileSync(kept, copy);
  return copy;
}

async function makeManyLinks(path: string, count: number): Promise<void> {
  const curt = await startCurt(path);
  await curt.stop();
  using database = new Database(path, { readwrite: true, strict: true });
  // A file that is not finished is thrown away. The program sets all of this anew when it opens the file.
  // Only from DELETE does WAL go OFF.
  for (const mode of ["DELETE", "OFF"]) database.run(`PRAGMA journal_mode = ${mode}`);
  database.run("PRAGMA synchronous = OFF");
  database.run(`PRAGMA cache_size = -${CACHE_KIB}`);
  // In random order of the codes, as they come in real life: the index is as full as it would be then.
  const insert = database.prepare<unknown, [string, string, number]>(
    "INSERT INTO links (code, original_url, created_ms) VALUES (?1, ?2, ?3) ON CONFLICT (code) DO NOTHING",
  );
  const createdMs = Date.now();
  const insertSome = database.transaction((from: number, to: number) => {
    for (let made = from; made < to;)
      made += insert.run(randomCode(), originalUrl(RUN, made), createdMs + made).changes;
  });
  for (let made = 0; made < count; made += TRANSACTION_ROWS) {
    insertSome(made, Math.min(count, made + TRANSACTION_ROWS));
    // A signal that ends the run is heard.
    await Bun.sleep(0);
  }
  insert.finalize();
}

function randomCode(): string {
  let code = "";
  for (let at = 0; at < CODE_LENGTH; at++) code += ALPHABET[Math.floor(Math.random() * ALPHABET.length)];
  return code;
}

/** Every `nth` link of a database, in random order. Reads the whole file, which is in the system's cache then. */
export function sampleLinks(path: string, nth: number): BenchLink[] {
  using database = new Database(path, { readonly: true, strict: true });
  const rows = database
    .query<BenchLink, [number]>("SELECT code, original_url FROM links WHERE rowid % ?1 = 0")
    .values(nth) as unknown as BenchLink[];
  return shuffled(rows);
}

export function bytesPerLink(path: string, count: number): number {
  return statSync(path).size / count;
}
