import { DAY_MS } from "../../links/time.ts";
import type { Source } from "../source.ts";
import { openScanner } from "./scanner.ts";
import { readDump, type SqlRow } from "./sql-dump.ts";
import { count, dayOf, instant, readRow, text } from "./values.ts";

const EXPECTED =
  "Curt reads a dump of the MySQL database of YOURLS: mysqldump --single-transaction --skip-tz-utc --default-character-set=utf8mb4 DATABASE yourls_url yourls_log > yourls.sql";

/** The prefix of the tables' names is the operator's choice. */
const KINDS = {
  link: ["keyword", "url", "timestamp", "clicks"],
  visit: ["click_time", "shorturl"],
} as const;

export const YOURLS: Source = {
  reads: "a dump of its MySQL database",
  async *read(input) {
    const scanner = await openScanner(input, EXPECTED);
    for await (const { kind, place, row } of readDump(scanner, KINDS, "link"))
      yield kind === "link"
        ? readRow(place, row["keyword"], () => readLink(row, place))
        : readRow(place, row["shorturl"], () => ({
            kind: "visits",
            key: text(row["shorturl"], "link"),
            day: dayOf(row["click_time"], DAY_MS),
            visits: 1,
          }));
  },
};

function readLink(row: SqlRow, place: string) {
  const code = row["keyword"] ?? "";
  return {
    kind: "link",
    key: code,
    place,
    code,
    url: text(row["url"], "URL"),
    createdMs: instant(row["timestamp"]),
    visits: count(row["clicks"]),
  } as const;
}
