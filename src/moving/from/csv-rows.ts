import type { Scanner } from "./scanner.ts";

export interface CsvRow<Name extends string> {
  /** Such as "line 12". */
  readonly place: string;
  /** Undefined if the row has more or fewer cells than the header. */
  readonly cells: Readonly<Partial<Record<Name, string>>> | undefined;
}

interface Columns<Name extends string> {
  /** What each column may be called. Case, spaces and underscores do not matter. */
  readonly names: Readonly<Record<Name, readonly string[]>>;
  readonly required: readonly NoInfer<Name>[];
  /** Whether other columns are a mistake. */
  readonly isClosed?: boolean;
}

/** Reads CSV (RFC 4180) with a header. Cells are separated by commas, semicolons or tabs, as in the header. */
export async function* readCsv<Name extends string>(
  scanner: Scanner,
  { names, required, isClosed = false }: Columns<Name>,
): AsyncGenerator<CsvRow<Name>> {
  let line = 1;
  let separator: string | undefined;
  let header: (Name | undefined)[] | undefined;
  for (;;) {
    const hasLine = separator !== undefined || scanner.text.trimStart().includes("\n");
    if (!hasLine && (await scanner.more())) continue;
    separator ??= /[,;\t]/.exec(scanner.text)?.[0] ?? ",";
    const row = readRecord(scanner, separator, false);
    if (row === undefined && (await scanner.more())) continue;
    const last = row ?? readRecord(scanner, separator, true);
    if (last === undefined) {
      if (scanner.at === scanner.text.length) break;
      throw scanner.wrong(`is cut off or broken: the quotes that begin at line ${line} have no end`);
    }
    const lines = scanner.text.slice(scanner.at, last.end).split("\n").length - 1;
    scanner.at = last.end;
    const place = `line ${line}`;
    line += lines;
    const { cells } = last;
    if (cells.length === 1 && cells[0] === "") continue;
    // A line for Excel.
    if (header === undefined && /^sep=$/i.test(cells[0] ?? "")) continue;
    if (header === undefined) {
      if (cells.some((cell) => cell.includes("\r")))
        throw scanner.wrong("ends its lines with CR alone. Save it with LF or CRLF");
      header = cells.map((cell) => nameOf(cell, names));
      const missing = required.find((name) => header?.includes(name) !== true);
      if (missing !== undefined) throw scanner.wrong(`has no column ${names[missing][0]}`);
      const unknown = header.findIndex((name, nth) => name === undefined && cells[nth]?.trim() !== "");
      if (isClosed && unknown >= 0) throw scanner.wrong(`has an unknown column ${cells[unknown]}`);
      const twice = header.findIndex((name, nth) => name !== undefined && header?.indexOf(name) !== nth);
      if (twice >= 0) throw scanner.wrong(`has two columns like ${cells[twice]}`);
    } else if (cells.length === header.length) {
      const named = header.flatMap((name, nth) => (name === undefined ? [] : [[name, cells[nth]]]));
      yield { place, cells: Object.fromEntries(named) as Partial<Record<Name, string>> };
    } else yield { place, cells: undefined };
  }
  if (header === undefined) throw scanner.wrong("is empty");
}

function nameOf<Name extends string>(
  cell: string,
  names: Readonly<Record<Name, readonly string[]>>,
): Name | undefined {
  const found = (Object.keys(names) as Name[]).find((name) =>
    names[name].some((known) => plain(known) === plain(cell)),
  );
  return found;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, "");
}

/** The next row and where it ends, or undefined if it is not all there. */
function readRecord(
  { text, at }: Scanner,
  separator: string,
  isLast: boolean,
): { readonly cells: string[]; readonly end: number } | undefined {
  const cells: string[] = [];
  if (at === text.length) return undefined;
  for (let from = at; ;) {
    const quoted = text[from] === '"' ? endOfQuotes(text, from) : from;
    if (quoted < 0) return undefined;
    let end = quoted;
    while (end < text.length && text[end] !== separator && text[end] !== "\n") end++;
    if (end === text.length && !isLast) return undefined;
    const bare = text.slice(quoted, text[end] === separator ? end : withoutReturn(text, end, quoted));
    const inQuotes = quoted === from ? "" : text.slice(from + 1, quoted - 1).replaceAll('""', '"');
    cells.push(inQuotes + bare);
    if (text[end] !== separator) return { cells, end: Math.min(end + 1, text.length) };
    from = end + 1;
  }
}

/** After the closing quotes, or -1 if they are not there. */
function endOfQuotes(text: string, from: number): number {
  for (let at = from + 1; ;) {
    const end = text.indexOf('"', at);
    if (end < 0 || text[end + 1] !== '"') return end < 0 ? -1 : end + 1;
    at = end + 2;
  }
}

function withoutReturn(text: string, end: number, from: number): number {
  return end > from && text[end - 1] === "\r" ? end - 1 : end;
}
