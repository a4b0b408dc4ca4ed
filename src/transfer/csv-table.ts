import { pipeline } from "node:stream";

import { CsvError, type InfoRecord, parse } from "csv-parse";

import { type Input, UnreadableSource } from "./source.ts";

/** Bounds the memory that a file takes whose quotes have no end. */
const MAX_ROW_BYTES = 1024 * 1024;

/** How `mysql --batch` writes characters that would end a cell or a row. */
const ESCAPED: Readonly<Record<string, string>> = { t: "\t", n: "\n", "0": "\0", "\\": "\\" };

interface Columns<Name extends string> {
  /** What the first line may call each column, the preferred name first. Case, spaces, - and _ don't matter. */
  readonly names: Readonly<Record<Name, readonly string[]>>;
  readonly required: readonly NoInfer<Name>[];
}

interface Row<Name extends string> {
  /** The number of the line on which it ends. */
  readonly line: number;
  /** Undefined for a column that the file doesn't have. */
  readonly cells: Readonly<Partial<Record<Name, string>>>;
}

/**
 * Reads CSV (RFC 4180), separated by commas or semicolons, or by tabs as `mysql --batch` writes it. The first line names the columns;
 * others are ignored. Throws {@link UnreadableSource}.
 */
export async function* readTable<Name extends string>(
  input: Input,
  columns: Columns<Name>,
  onBroken: (line: number, why: string) => void,
): AsyncGenerator<Row<Name>> {
  const firstLine = await input.firstLine();
  if (firstLine.trim() === "") throw new UnreadableSource("is empty, or begins with an empty line.");
  const [separator = ","] = /[,;\t]/.exec(firstLine) ?? [];
  const isBatch = separator === "\t";
  const rows = parse({
    bom: true,
    columns: (header: string[]) => namesOf(header, columns),
    delimiter: separator,
    quote: isBatch ? null : '"',
    cast: isBatch && unescape,
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_ROW_BYTES,
    info: true,
  });
  // The loop throws the errors of both.
  pipeline(input.bytes(), rows, () => {});
  try {
    for await (const { record, info } of rows as AsyncIterable<Parsed<Name>>)
      if (info.error === undefined) yield { line: info.lines, cells: record };
      else onBroken(info.lines, "it has fewer or more cells than the first line");
  } catch (error) {
    throw error instanceof CsvError ? explain(error) : error;
  }
}

interface Parsed<Name extends string> {
  readonly record: Row<Name>["cells"];
  readonly info: InfoRecord;
}

/** False for columns that are ignored. */
function namesOf<Name extends string>(
  header: readonly string[],
  { names, required }: Columns<Name>,
): (Name | false)[] {
  const plainHeader = header.map(plain);
  const found = new Map<number, Name>();
  for (const name of Object.keys(names) as Name[]) {
    const place = names[name].map((known) => plainHeader.indexOf(plain(known))).find((at) => at >= 0);
    if (place !== undefined) found.set(place, name);
    else if (required.includes(name))
      throw new UnreadableSource(
        `has no column ${name}. The first line of a CSV file must name its columns, at least ${required.join(", ")}.`,
      );
  }
  return header.map((_, place) => found.get(place) ?? false);
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, "");
}

function unescape(cell: string): string {
  return cell.replace(/\\([tn0\\])/g, (_, character: string) => ESCAPED[character] ?? "");
}

function explain({ code, lines }: CsvError): UnreadableSource {
  const why =
    code === "CSV_MAX_RECORD_SIZE"
      ? "its row has more than 1 MiB, perhaps because a quote is missing"
      : 'its quotes are wrong. Cells with quotes look like "say ""hello"""';
  return new UnreadableSource(`is broken at line ${String(lines)}: ${why}.`);
}
