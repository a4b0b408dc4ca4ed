import { Database } from "bun:sqlite";
import { readFileSync, writeFileSync } from "node:fs";

/** The alphabet of generated codes. */
const ALPHABET = "23456789bcdfghjkmnpqrstvwxyzBCDFGHJKLMNPQRSTVWXYZ";
const CODE_LENGTH = 7;
const TRANSACTION_ROWS = 100_000;
/** The index of codes stays in memory while it is made, in KiB. */
const CACHE_KIB = 1_000_000;

/** A code and where it leads; "" for a code that does not exist. */
export type Link = readonly [code: string, target: string];

/** Addresses of about 80 characters, all different. `run` separates the callers of one benchmark. */
export function originalUrl(run: string, number: number): string {
  return `https://www.example.com/articles/short-links/${run}/${String(number).padStart(9, "0")}?ref=newsletter`;
}

/** One link a line, so that wrk's script reads the same file as we do. */
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

/** The links of a file of Curt's. */
export function* everyLink(path: string): Generator<Link> {
  using database = new Database(path, { readonly: true, strict: true });
  const rows = database.query<{ code: string; original_url: string }, []>(
    "SELECT code, original_url FROM links",
  );
  for (const { code, original_url } of rows.iterate()) yield [code, original_url];
}

/** Any link of a file of Curt's. */
export function readLink(path: string): Link {
  for (const link of everyLink(path)) return link;
  return ["", ""];
}

/** Inserts links into a file of Curt's that nobody has open. `make` returns the address and the creation of each. */
export async function insertLinks(
  path: string,
  count: number,
  make: (nth: number) => readonly [originalUrl: string, createdMs: number],
): Promise<void> {
  using database = new Database(path, { readwrite: true, strict: true });
  // A file that is cut off is thrown away. The program sets all of this again when it opens the file.
  // Only from DELETE does WAL go OFF.
  for (const mode of ["DELETE", "OFF"]) database.run(`PRAGMA journal_mode = ${mode}`);
  database.run("PRAGMA synchronous = OFF");
  database.run(`PRAGMA cache_size = -${CACHE_KIB}`);
  // In random order of the codes, as they come in real life: the index is as full as it would be then.
  const insert = database.prepare<unknown, [string, string, number]>(
    "INSERT INTO links (code, original_url, created_ms) VALUES (?1, ?2, ?3) ON CONFLICT (code) DO NOTHING",
  );
  const insertSome = database.transaction((from: number, to: number) => {
    for (let made = from; made < to;) made += insert.run(randomCode(), ...make(made)).changes;
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
