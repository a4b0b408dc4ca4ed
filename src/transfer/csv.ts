// CSV files of other shorteners: tables of links, and of visits by day.
import { pipeline } from "node:stream";

import { CsvError, type InfoRecord, parse } from "csv-parse";

import type { Terms } from "../links/link.ts";
import { keyPrefixOf, MAX_TARGET_LENGTH } from "../links/target.ts";
import { fitText, orNone } from "../links/terms/term-values.ts";
import { DAY_MS } from "../links/time.ts";
import { BrokenLine } from "./field-codecs.ts";
import {
  type ImportItem,
  type InputFile,
  type LinkItem,
  type OnBrokenLine,
  type SkippedItem,
  UnreadableFile,
} from "./import-items.ts";

/** Limits the memory for a file with an unterminated quote. */
export const MAX_ROW_BYTES = 1024 * 1024;

/**
 * Longer codes and addresses are refused, so nobody needs all of them. A row with many codes, or a pattern of a link dump, could
 * otherwise repeat a long one until the disk is full.
 */
const KEPT_LENGTH = MAX_TARGET_LENGTH + 1;

/** The names of columns in a header, the preferred one first. Case, spaces, - and _ are ignored. */
type Columns = Readonly<Record<string, readonly string[]>>;

/** Bitly and Dub export addresses instead of codes, Bitly also a second one with a custom code. */
const LINKS = {
  code: ["code", "short link", "short url", "link", "bitlink"],
  custom: ["custom link", "custom bitlinks"],
  target: ["target", "url", "destination url", "long url"],
  created: ["created at", "created", "date created"],
  expires: ["expires at", "expires"],
  visits: ["visits", "clicks", "total clicks", "total engagements"],
  forwardQuery: ["forward query"],
  forwardPath: ["forward path"],
  title: ["title"],
} as const;
const VISITS = { code: ["code"], day: ["day"], visits: ["visits"] } as const;

/** How `mysql --batch` escapes characters that would end a cell or a row. */
const ESCAPED: Readonly<Record<string, string>> = { t: "\t", n: "\n", "0": "\0", "\\": "\\" };
/** `mysql --batch` writes NULL. */
const EMPTY = /^(?:|NULL)$/;
const NO_DATE = /^(?:0|0000-00-00.*)$/;
const UNIX_TIME = /^\d{9,14}$/;
/** Unix times from here on are milliseconds (1978), smaller ones are seconds (up to 9999, which some write for never). */
const MIN_MS = 253_402_300_800;
const DATE =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?\s?(?:Z|UTC|([+-]\d\d)(?::?(\d\d))?)?$/;

/** Other programs fill it in. Curt would send it to the destination as it is. */
const TEMPLATE = "{{";
const TEMPLATE_REASON = "its destination has a template in {{ }} that Curt can't fill in";

type Cells<C extends Columns> = Readonly<Partial<Record<keyof C, string>>>;

export interface LinkOptions {
  readonly addresses: Addresses;
  /** Of DOMAINS. Links of any other domain become links of BASE_URL. */
  readonly keyPrefixes: readonly string[];
  readonly onBroken: OnBrokenLine;
}

/** Reads a table of links. If its codes are addresses, skips those of other domains. */
export async function* readLinks(input: InputFile, options: LinkOptions): AsyncGenerator<ImportItem> {
  const { onBroken } = options;
  const required = ["code", "target"] as const;
  yield* readTable(input, { columns: LINKS, required, onBroken }, createLinkReader(options));
}

/** Reads cells that may have addresses of one domain in place of codes. */
type Addresses = ReturnType<typeof createAddresses>;

/** The domain defaults to that of the first address. Each domain has its own codes. */
export function createAddresses(domain?: string) {
  let expectedHost =
    domain && (URL.parse(/^https?:/i.test(domain) ? domain : `https://${domain}`)?.host ?? domain);
  return {
    expectedHost: () => expectedHost,
    /** Returns a skipped row if the cell has an address of another domain. */
    readCode(cell: string, place: string): string | SkippedItem {
      const { host, code } = parseAddress(cell);
      expectedHost ??= host;
      if (host === undefined || host === expectedHost) return code.slice(0, KEPT_LENGTH);
      const reason = `it is of another host than ${expectedHost} (choose one with --domain)`;
      return { kind: "skipped", place, code: cell.slice(0, KEPT_LENGTH), reason };
    },
  };
}

/** Returns a reader that takes the cells of one link per call. */
export function createLinkReader({ addresses, keyPrefixes }: LinkOptions) {
  return function* (cells: Cells<typeof LINKS>, line: number): Generator<ImportItem> {
    const place = `line ${line}`;
    const codes = new Set<string>();
    for (const cell of addressesOf(cells)) {
      const code = addresses.readCode(cell, place);
      if (typeof code === "string") codes.add(code);
      else yield code;
    }
    if (cells.target?.includes(TEMPLATE) === true) {
      yield { kind: "skipped", place, code: [...codes][0] ?? "", reason: TEMPLATE_REASON };
      return;
    }
    const expectedHost = addresses.expectedHost();
    const origin = URL.parse(`https://${expectedHost}`)?.origin;
    const keyPrefix = keyPrefixes.find((one) => origin !== undefined && one === keyPrefixOf(origin)) ?? "";
    for (const link of linksOf([...codes], cells, place)) {
      // Only codes without an address may name their domain. No code starts with a slash.
      const isPath = expectedHost !== undefined && keyPrefix === "" && link.code.includes("/");
      yield { ...link, code: (isPath ? "/" : keyPrefix) + link.code };
    }
  };
}

interface VisitOptions extends Omit<LinkOptions, "keyPrefixes"> {
  readonly file: string;
  readonly lastDay: number;
}

/** Reads a table of visits by day up to `lastDay`, in any order, after the links. */
export function readVisits(
  input: InputFile,
  { addresses, file, lastDay, onBroken }: VisitOptions,
): AsyncGenerator<ImportItem> {
  const required = ["code", "day", "visits"] as const;
  return readTable(input, { columns: VISITS, required, onBroken }, function* (cells, line) {
    const place = `line ${line} of ${file}`;
    const key = addresses.readCode(cells.code ?? "", place);
    const [day, visits] = [parseDay(cells.day, lastDay), parseCount(cells.visits) ?? 0];
    yield typeof key === "string" ? { kind: "visits", key, place, day, visits } : key;
  });
}

interface TableOptions<C extends Columns> {
  readonly columns: C;
  readonly required: readonly (keyof C & string)[];
  readonly onBroken: OnBrokenLine;
}

/**
 * Reads CSV (RFC 4180), separated by commas or semicolons, or by tabs as `mysql --batch` writes it. The first line names the
 * columns. `toItems` may throw {@link BrokenLine}. Throws {@link UnreadableFile}.
 */
async function* readTable<C extends Columns>(
  input: InputFile,
  { columns, required, onBroken }: TableOptions<C>,
  toItems: (cells: Cells<C>, line: number) => Iterable<ImportItem>,
): AsyncGenerator<ImportItem> {
  const firstLine = await input.firstLine();
  if (firstLine.trim() === "") throw new UnreadableFile("is empty, or starts with an empty line.");
  const [separator = ","] = /[,;\t]/.exec(firstLine) ?? [];
  const isBatch = separator === "\t";
  const rows = parse({
    bom: true,
    columns: (header: string[]) => columnsOf(header, columns, required),
    delimiter: separator,
    quote: isBatch ? null : '"',
    cast: isBatch && unescape,
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_ROW_BYTES,
    info: true,
  });
  // The loop throws errors of the input and of the parser.
  pipeline(input.bytes(), rows, () => {});
  try {
    for await (const { record, info } of rows as AsyncIterable<{ record: Cells<C>; info: InfoRecord }>) {
      // The line on which the row ends.
      const line = info.lines;
      try {
        if (info.error === undefined) yield* toItems(record, line);
        else onBroken(line, "it has fewer or more cells than the first line");
      } catch (error) {
        if (!(error instanceof BrokenLine)) throw error;
        onBroken(line, error.message);
      }
    }
  } catch (error) {
    throw error instanceof CsvError ? explain(error) : error;
  }
}

/** Returns false for columns to ignore. */
function columnsOf(
  header: readonly string[],
  columns: Columns,
  required: readonly string[],
): (string | false)[] {
  const simplified = header.map(simplify);
  const names = new Map<number, string>();
  for (const [name, aliases] of Object.entries(columns)) {
    const index = aliases.map((alias) => simplified.indexOf(simplify(alias))).find((at) => at >= 0);
    if (index !== undefined) names.set(index, name);
    else if (required.includes(name))
      throw new UnreadableFile(
        `has no column ${name}. The first line of a CSV file must name its columns, at least ${required.join(", ")}.`,
      );
  }
  return header.map((_, index) => names.get(index) ?? false);
}

function simplify(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, "");
}

function unescape(cell: string): string {
  return cell.replace(/\\([tn0\\])/g, (_, character: string) => ESCAPED[character] ?? "");
}

function explain({ code, lines }: CsvError): UnreadableFile {
  const why =
    code === "CSV_MAX_RECORD_SIZE"
      ? "its row has more than 1 MiB, perhaps because a quote is missing"
      : 'its quotes are wrong. Cells with quotes look like "say ""hello"""';
  return new UnreadableFile(`is broken at line ${String(lines)}: ${why}.`);
}

function addressesOf({ code = "", custom = "" }: Cells<typeof LINKS>): readonly string[] {
  return [code, ...custom.split(/[\s,;|]+/).filter((cell) => cell !== "")];
}

function parseAddress(cell: string): { readonly host?: string; readonly code: string } {
  if (!/^https?:\/\//i.test(cell)) return { code: cell };
  const url = URL.parse(cell);
  try {
    if (url !== null) return { host: url.host, code: decodeURIComponent(url.pathname.slice(1)) };
  } catch {
    // The percent-encoding is invalid.
  }
  throw new BrokenLine("its short address can't be read");
}

/** Returns one link per code. The last one gets the visits, because only their sum is known. */
function linksOf(codes: readonly string[], cells: Cells<typeof LINKS>, place: string): LinkItem[] {
  const { target = "", created, expires, visits, forwardQuery, forwardPath, title = "" } = cells;
  const originalUrl = target.slice(0, KEPT_LENGTH);
  if (`${codes.join("")}${originalUrl}`.includes("\uFFFD"))
    throw new BrokenLine("its code or target is no UTF-8");
  const [createdMs, endsMs] = [parseInstant(created), parseInstant(expires)];
  const sum = parseCount(visits);
  const terms: Terms = {
    forwardQuery: parseFlag("forward_query", forwardQuery) || undefined,
    forwardPath: parseFlag("forward_path", forwardPath) || undefined,
    title: EMPTY.test(title) ? undefined : fitText("title", title),
  };
  return codes.map((code, nth) => ({
    kind: "link",
    key: code,
    place,
    code,
    originalUrl,
    createdMs,
    endsMs,
    terms: orNone(terms),
    visits: nth === codes.length - 1 ? sum : undefined,
  }));
}

function parseCount(cell = ""): number | undefined {
  if (EMPTY.test(cell)) return undefined;
  if (!/^\d{1,15}$/.test(cell)) throw new BrokenLine("its number of visits is no number");
  return Number(cell);
}

/** Databases write booleans in several ways. */
function parseFlag(column: string, cell = ""): boolean {
  if (EMPTY.test(cell) || /^(?:0|f|false)$/i.test(cell)) return false;
  if (!/^(?:1|t|true)$/i.test(cell)) throw new BrokenLine(`its ${column} is neither true nor false`);
  return true;
}

/** Parses ISO 8601, dates of databases, and Unix time. The default time zone is UTC. */
function parseInstant(cell = ""): number | undefined {
  if (EMPTY.test(cell) || NO_DATE.test(cell)) return undefined;
  if (UNIX_TIME.test(cell)) return Number(cell) < MIN_MS ? Number(cell) * 1000 : Number(cell);
  const [, date, time = "00:00", hours = "+00", minutes = "00"] = DATE.exec(cell) ?? [];
  const ms = Date.parse(`${date}T${time}${hours}:${minutes}`);
  // Date.parse may turn February 30 into March 1.
  const isDate = !Number.isNaN(ms) && new Date(`${date}T00:00Z`).toISOString().startsWith(`${date}T`);
  if (!isDate) throw new BrokenLine("one of its dates can't be read. Dates look like 2026-11-22T10:00:00Z");
  return ms;
}

/** Day 0 stands for visits without a date. */
function parseDay(cell: string | undefined, lastDay: number): number {
  const day = Math.max(0, Math.floor((parseInstant(cell) ?? 0) / DAY_MS));
  if (day > lastDay) throw new BrokenLine("its day is in the future");
  return day;
}
