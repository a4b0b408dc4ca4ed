import type { Source } from "../source.ts";
import { readCsv } from "./csv-rows.ts";
import { openScanner } from "./scanner.ts";
import { BadRow, count, instant, readRow, text } from "./values.ts";

const EXPECTED =
  "Its first line must name the columns: code, url and, if you have them, created, expires and visits";

const COLUMNS = {
  code: ["code"],
  url: ["url"],
  created: ["created"],
  expires: ["expires"],
  visits: ["visits"],
} as const;

export const CSV: Source = {
  reads: "CSV with the columns code, url, created, expires, visits",
  async *read(input) {
    const scanner = await openScanner(input, EXPECTED);
    const rows = readCsv(scanner, { names: COLUMNS, required: ["code", "url"], isClosed: true });
    for await (const { place, cells } of rows)
      yield readRow(place, cells?.code, () => {
        if (cells === undefined) throw new BadRow("it has too few or too many cells");
        const code = text(cells.code, "code");
        return {
          kind: "link",
          key: place,
          place,
          code,
          url: text(cells.url, "URL"),
          createdMs: instant(cells.created),
          endsMs: instant(cells.expires),
          visits: count(cells.visits),
        };
      });
  },
};
