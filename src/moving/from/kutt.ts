import { DAY_MS } from "../../links/time.ts";
import type { Input, Source, SourceItem } from "../source.ts";
import { isDatabase, openDatabase } from "./database.ts";
import { openDomains } from "./domains.ts";
import { openScanner } from "./scanner.ts";
import { readDump } from "./sql-dump.ts";
import { BadRow, count, dayOf, instant, readRow, text } from "./values.ts";

const EXPECTED =
  "Curt reads a dump of Kutt's database (pg_dump --data-only -t domains -t links -t visits DATABASE > kutt.sql, or mysqldump), or its SQLite file";

const KINDS = {
  domain: ["id", "address", "homepage"],
  link: ["id", "address", "target", "domain_id", "visit_count"],
  visit: ["link_id", "total", "created_at"],
} as const;
const DEFAULT_DOMAIN = "default";

type Kind = keyof typeof KINDS;
interface KuttRow {
  readonly kind: Kind;
  readonly place: string;
  readonly row: Readonly<Record<string, unknown>>;
}

export const KUTT: Source = {
  reads: "a dump of its database, or its SQLite file",
  hasDomains: true,
  async *read(input, domain) {
    const names = new Map<string, string>();
    const domains = openDomains(domain);
    const rows = isDatabase(input) ? readDatabase(input) : readDumped(input);
    for await (const { kind, place, row } of rows) {
      if (kind === "domain") names.set(String(row["id"]), String(row["address"]));
      else if (kind === "visit") yield readRow(place, row["link_id"], () => readVisits(row));
      else
        yield readRow(place, row["address"], () => {
          const id = row["domain_id"];
          domains.take(isNothing(id) ? DEFAULT_DOMAIN : (names.get(String(id)) ?? `domain ${String(id)}`));
          return readLink(row, place);
        });
    }
    domains.end();
  },
};

async function* readDumped(input: Input): AsyncGenerator<KuttRow> {
  yield* readDump(await openScanner(input, EXPECTED), KINDS, "link");
}

async function* readDatabase(input: Input): AsyncGenerator<KuttRow> {
  using database = openDatabase(input, EXPECTED);
  for (const [kind, table] of [
    ["domain", "domains"],
    ["link", "links"],
    ["visit", "visits"],
  ] as const) {
    const columns = database.columns(table);
    const missing = KINDS[kind].find((column) => !columns.includes(column));
    if (missing !== undefined) throw database.wrong(`has no table ${table} with a column ${missing}`);
    let nth = 0;
    for (const row of database.rows(`SELECT * FROM ${table}`))
      yield { kind, place: `row ${++nth} of ${table}`, row };
  }
}

function readLink(row: KuttRow["row"], place: string): SourceItem {
  if (!isNothing(row["password"])) throw new BadRow("it has a password");
  const isBanned = /^(?:1|t|true)$/i.test(String(row["banned"]));
  return {
    kind: "link",
    key: String(row["id"]),
    place,
    code: text(row["address"], "address"),
    url: text(row["target"], "target"),
    createdMs: instant(row["created_at"]),
    endsMs: instant(row["expire_in"]),
    visits: count(row["visit_count"]),
    ...(isBanned && { disabled: "other" }),
  };
}

/** Of one hour. */
function readVisits(row: KuttRow["row"]): SourceItem {
  return {
    kind: "visits",
    key: String(row["link_id"]),
    day: dayOf(row["created_at"], DAY_MS),
    visits: count(row["total"]) ?? 0,
  };
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined || value === "";
}
