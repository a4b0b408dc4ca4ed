import type { Scanner } from "./scanner.ts";
import { fromHex, readTokens, type SqlTokens, type Token, unescapeCopied } from "./sql-tokens.ts";

export type SqlRow = Readonly<Record<string, string | null>>;

export interface DumpRow<Kind extends string> {
  readonly kind: Kind;
  /** Such as "row 12 of yourls_url". */
  readonly place: string;
  readonly row: SqlRow;
}

interface TableName {
  readonly name: string;
  /** Or its schema. Undefined if the dump does not say. */
  readonly database: string | undefined;
}

interface Table extends TableName {
  readonly columns: readonly string[];
}

/** In a list of columns, what is no column. */
const NO_COLUMN = /^(?:primary|key|unique|constraint|index|foreign|check|fulltext|spatial|exclude|like)$/i;
const MAX_TABLES = 10_000;
/** Between two parentheses. */
const MAX_TOKENS = 100_000;
const MAX_CHARACTERS = 4 * 1024 * 1024;
/** Also of one with those of its schema and database. Databases allow 64 for each. */
const MAX_NAME_LENGTH = 1000;

/**
 * Reads the rows of some tables from a dump: INSERT and REPLACE as mysqldump, phpMyAdmin, pg_dump and SQLite write them, and
 * COPY. A table is of the kind whose columns it has, whatever its name. All other statements are passed over. Throws
 * `UnreadableSource` if a table is missing that must be there, or if the dump is broken.
 */
export async function* readDump<Kind extends string>(
  scanner: Scanner,
  kinds: Readonly<Record<Kind, readonly string[]>>,
  required: Kind,
): AsyncGenerator<DumpRow<Kind>> {
  const tables = new Map<string, readonly string[]>();
  const rows = new Map<string, number>();
  const named = new Map<Kind, TableName>();
  /** Of the last USE. */
  let database: string | undefined;
  /** The first table with rows of which neither its structure nor the INSERT names the columns. */
  let unnamed: string | undefined;
  /** Until the dump says that it is of another database. */
  let isMySql = true;
  /** Dumps that say that they begin, less those that say that they are complete. */
  let open = 0;
  const tokens = readTokens(scanner, {
    isMySql: () => isMySql,
    onComment(comment) {
      if (comment.startsWith("-- PostgreSQL database")) isMySql = false;
      if (/dump complete/i.test(comment)) open--;
      else if (/^-- (?:MySQL|MariaDB|PostgreSQL database) dump\b/.test(comment)) open++;
    },
  });

  function kindOf(table: Table): Kind | undefined {
    const all = Object.keys(kinds) as Kind[];
    // An INSERT may name fewer columns than its table has.
    const kind =
      all.find((candidate) => isSame(table, named.get(candidate))) ??
      all.find((candidate) => kinds[candidate].every((column) => table.columns.includes(column)));
    if (kind === undefined) return undefined;
    const known = named.get(kind) ?? table;
    if (!isSame(table, known))
      throw scanner.wrong(
        `holds both ${inWords(known)} and ${inWords(table)}. Dump the tables of one shortener`,
      );
    named.set(kind, known.database === undefined ? table : known);
    return kind;
  }

  function toRow(kind: Kind, { name, columns }: Table, values: readonly (string | null)[]): DumpRow<Kind> {
    const nth = (rows.get(name) ?? 0) + 1;
    rows.set(name, nth);
    const place = `row ${nth} of ${name}`;
    if (values.length !== columns.length)
      throw scanner.wrong(`is broken at ${place}: ${values.length} values for ${columns.length} columns`);
    return {
      kind,
      place,
      row: Object.fromEntries(columns.map((column, at) => [column, values[at] ?? null])),
    };
  }

  async function readTable(first: Token) {
    const read = await readName(tokens, scanner, first);
    return { ...read, database: read.database ?? database };
  }

  async function* insert(): AsyncGenerator<DumpRow<Kind>> {
    let token = await tokens.next();
    while (/^(?:into|ignore|low_priority|delayed|or|replace)$/i.test(token.value))
      token = await tokens.next();
    const { following, ...table } = await readTable(token);
    const { name } = table;
    let columns = tables.get(name) ?? [];
    token = following;
    if (token.value === "(" && token.type === "mark") {
      columns = (await readItems(tokens, scanner)).map(([first]) => first?.value ?? "");
      token = await tokens.next();
    }
    const kind = kindOf({ ...table, columns });
    if (kind === undefined) {
      if (columns.length === 0) unnamed ??= name;
      return skip(tokens, scanner, token);
    }
    while (!isWord(token, "values")) {
      if (token.type !== "word") throw scanner.wrong(`is broken: an INSERT into ${name} has no VALUES`);
      token = await tokens.next();
    }
    for (;;) {
      token = await tokens.next();
      if (token.type !== "mark" || token.value !== "(")
        throw scanner.wrong(`is cut off or broken after row ${rows.get(name) ?? 0} of ${name}`);
      const items = await readItems(tokens, scanner);
      yield toRow(
        kind,
        { ...table, columns },
        items.map((item) => readValue(item, scanner, name)),
      );
      token = await tokens.next();
      if (token.type !== "mark" || token.value !== ",") return skip(tokens, scanner, token);
    }
  }

  async function* copy(): AsyncGenerator<DumpRow<Kind>> {
    const { following, ...table } = await readTable(await tokens.next());
    if (following.value !== "(") return skip(tokens, scanner, following);
    const columns = (await readItems(tokens, scanner)).map(([first]) => first?.value ?? "");
    const kind = kindOf({ ...table, columns });
    await skip(tokens, scanner, await tokens.next());
    await tokens.line();
    for (;;) {
      const line = await tokens.line();
      if (line === undefined) throw scanner.wrong(`is cut off: the rows of ${table.name} have no end`);
      if (line === "\\.") return;
      if (kind !== undefined) yield toRow(kind, { ...table, columns }, line.split("\t").map(unescapeCopied));
    }
  }

  async function create(): Promise<void> {
    let token = await tokens.next();
    if (!isWord(token, "table")) return skip(tokens, scanner, token);
    token = await tokens.next();
    while (token.type === "word" && /^(?:if|not|exists)$/i.test(token.value)) token = await tokens.next();
    const { following, ...table } = await readTable(token);
    if (following.value !== "(") return skip(tokens, scanner, following);
    const columns = (await readItems(tokens, scanner)).flatMap(([first]) =>
      first === undefined || (first.type === "word" && NO_COLUMN.test(first.value)) ? [] : [first.value],
    );
    if (tables.size < MAX_TABLES) tables.set(table.name, columns);
    kindOf({ ...table, columns });
    return skip(tokens, scanner, await tokens.next());
  }

  for (;;) {
    const token = await tokens.next();
    if (token.type === "end") break;
    if (isWord(token, "insert") || isWord(token, "replace")) yield* insert();
    else if (isWord(token, "copy")) yield* copy();
    else if (isWord(token, "create")) await create();
    else if (isWord(token, "use")) {
      const { name, following } = await readName(tokens, scanner, await tokens.next());
      database = name;
      await skip(tokens, scanner, following);
    }
    // Between these two lines are triggers and the like.
    else if (isWord(token, "delimiter"))
      while (!/^delimiter\s+;\s*$/i.test((await tokens.line()) ?? "delimiter ;"));
    else if (token.value === "\\") await tokens.line();
    else if (isWord(token, "pragma")) {
      // SQLite has no backslashes in strings either.
      isMySql = false;
      await skip(tokens, scanner, token);
    } else if (token.value !== ";") await skip(tokens, scanner, token);
  }
  if (open > 0) throw scanner.wrong("is cut off: it does not end with “dump complete”");
  if (!named.has(required) && unnamed !== undefined)
    throw scanner.wrong(`does not name the columns of ${unnamed}. Dump the tables with their structure`);
  if (!named.has(required))
    throw scanner.wrong(`has no table with the columns ${kinds[required].join(", ")}`);
}

function isWord({ type, value }: Token, word: string): boolean {
  return type === "word" && value.toLowerCase() === word;
}

/** Some programs name the database with some statements only. */
function isSame(table: TableName, known: TableName | undefined): boolean {
  if (table.name !== known?.name) return false;
  return table.database === undefined || [undefined, table.database].includes(known.database);
}

function inWords({ name, database }: TableName): string {
  return database === undefined ? name : `${database}.${name}`;
}

/** A name may come with that of its schema or database. */
async function readName(
  tokens: SqlTokens,
  scanner: Scanner,
  first: Token,
): Promise<TableName & { readonly following: Token }> {
  let last = first;
  let before = "";
  let following = await tokens.next();
  // The dots may belong to words: schema.name, schema."name", "schema".name, "schema"."name".
  const isDotted = ({ type, value }: Token, at: 0 | -1) => type === "word" && value.at(at) === ".";
  const requireShort = () => {
    if (before.length + last.value.length > MAX_NAME_LENGTH)
      throw scanner.wrong(`has a name of more than ${MAX_NAME_LENGTH} characters`);
  };
  requireShort();
  while (isDotted(last, -1) || isDotted(following, 0)) {
    before += last.value;
    last = following;
    following = await tokens.next();
    requireShort();
  }
  const name = last.type === "word" ? (last.value.split(".").at(-1) ?? "") : last.value;
  const prefix = `${before}${last.value}`.slice(0, -name.length).replace(/\.$/, "");
  return { name, database: prefix === "" ? undefined : prefix, following };
}

/** What stands in parentheses after the opening one, split by commas. */
async function readItems(tokens: SqlTokens, scanner: Scanner): Promise<Token[][]> {
  const items: Token[][] = [[]];
  let count = 0;
  let characters = 0;
  for (let depth = 1; ;) {
    const token = await tokens.next();
    characters += token.value.length;
    if (++count > MAX_TOKENS || characters > MAX_CHARACTERS)
      throw scanner.wrong("has a statement that is too long");
    if (token.type === "end") throw scanner.wrong("is no SQL dump, or is cut off inside of a statement");
    const mark = token.type === "mark" ? token.value : "";
    if (mark === "(") depth++;
    if (mark === ")") depth--;
    if (depth === 0) return items;
    if (mark === "," && depth === 1) items.push([]);
    else items.at(-1)?.push(token);
  }
}

function readValue(item: readonly Token[], scanner: Scanner, table: string): string | null {
  // MySQL may say how a text is encoded, such as _utf8mb4 'text'.
  const [first, second] = item[0]?.type === "word" && item[0].value.startsWith("_") ? item.slice(1) : item;
  if (first === undefined || second !== undefined || first.type === "mark")
    throw scanner.wrong(`is broken: an INSERT into ${table} has a value that is no text and no number`);
  if (first.type !== "word") return first.value;
  if (/^null$/i.test(first.value)) return null;
  return first.value.startsWith("0x") ? fromHex(first.value.slice(2)) : first.value;
}

/** To the end of the statement. */
async function skip(tokens: SqlTokens, scanner: Scanner, from: Token): Promise<void> {
  for (let token = from; token.type !== "mark" || token.value !== ";"; token = await tokens.next())
    if (token.type === "end") throw scanner.wrong("is no SQL dump, or is cut off inside of a statement");
}
