import { Database } from "bun:sqlite";
import { readFileSync, writeFileSync } from "node:fs";

/** The alphabet of generated codes. */
const ALPHABET = "23456789bcdfghjkmnpqrstvwxyzBCDFGHJKLMNPQRSTVWXYZ";
const CODE_LENGTH = 7;
const TRANSACTION_ROWS = 100_000;
/** Size of SQLite's cache in KiB, which holds the index of codes while it is built. */
const CACHE_KIB = 1_000_000;

/** A code and its destination; "" for a code that doesn't exist. */
export type Link = readonly [code: string, target: string];

/** Addresses of about 80 characters, all different. `run` separates the callers of one benchmark. */
export function originalUrl(run: string, number: number): string {
  return `https://www.example.com/articles/short-links/${run}/${String(number).padStart(9, "0")}?ref=newsletter`;
}

/** One link per line, so that wrk's script can read the same file. */
export function writeLinks(path: string, links: readonly Link[]): void {
  writeFileSync(path, links.map(([code, target]) => `${code} ${target}\n`).join(""));
}

export function readLinks(path: string): Link[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [code = "", target = ""] = line.split(" ");
      return [code, target];
    });
}

export function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** Visits of links by Zipf's law: the nth link is visited an nth as often as the first. */
export function zipf(links: readonly Link[], visits: number): Link[] {
  let sum = 0;
  const sums = Float64Array.from(links, (_, nth) => (sum += 1 / (nth + 1)));
  return Array.from({ length: visits }, () => {
    const drawn = Math.random() * sum;
    let [low, high] = [0, links.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) > drawn) high = middle;
      else low = middle + 1;
    }
    return links[low] ?? ["", ""];
  });
}

/** The links in a SQLite file of Curt. */
export function* everyLink(path: string): Generator<Link> {
  using database = new Database(path, { readonly: true, strict: true });
  const rows = database.query<{ code: string; original_url: string }, []>(
    "SELECT code, original_url FROM links",
  );
  for (const { code, original_url } of rows.iterate()) yield [code, original_url];
}

/** Any link in a SQLite file of Curt. */
export function readLink(path: string): Link {
  for (const link of everyLink(path)) return link;
  return ["", ""];
}

/** Inserts links into a SQLite file of Curt that no process has open. `describe` returns the address and the creation of each. */
export async function insertLinks(
  path: string,
  count: number,
  describe: (nth: number) => readonly [originalUrl: string, createdMs: number],
): Promise<void> {
  using database = new Database(path, { readwrite: true, strict: true });
  // An incomplete file is thrown away. The program resets all of this when it opens the file.
  // Only from DELETE does WAL go OFF.
  for (const mode of ["DELETE", "OFF"]) database.run(`PRAGMA journal_mode = ${mode}`);
  database.run("PRAGMA synchronous = OFF");
  database.run(`PRAGMA cache_size = -${CACHE_KIB}`);
  // In random order of the codes, as in production, so that the index is equally full.
  const insert = database.prepare<unknown, [string, string, number]>(
    "INSERT INTO links (code, original_url, created_ms) VALUES (?1, ?2, ?3) ON CONFLICT (code) DO NOTHING",
  );
  const insertSome = database.transaction((from: number, to: number) => {
    for (let inserted = from; inserted < to;)
      inserted += insert.run(randomCode(), ...describe(inserted)).changes;
  });
  for (let inserted = 0; inserted < count; inserted += TRANSACTION_ROWS) {
    insertSome(inserted, Math.min(count, inserted + TRANSACTION_ROWS));
    // Lets a signal end the run.
    await Bun.sleep(0);
  }
  insert.finalize();
}

function randomCode(): string {
  let code = "";
  for (let at = 0; at < CODE_LENGTH; at++) code += ALPHABET[Math.floor(Math.random() * ALPHABET.length)];
  return code;
}
