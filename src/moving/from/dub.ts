import { toUnicode } from "node:punycode";

import type { Source, SourceItem } from "../source.ts";
import { readCsv } from "./csv-rows.ts";
import { openDomains } from "./domains.ts";
import { readObjects } from "./json-objects.ts";
import { isJson, openScanner, type Scanner } from "./scanner.ts";
import { address, BadRow, count, instant, readRow, text } from "./values.ts";

const EXPECTED =
  "Curt reads the CSV file that Dub exports (Links, Export) with the columns Short link, Destination URL, Clicks and Created at, or pages of GET /links, one after the other";

const COLUMNS = {
  short: ["Short link"],
  url: ["Destination URL"],
  visits: ["Clicks"],
  created: ["Created at"],
} as const;

type Fields = Readonly<Record<string, unknown>>;

export const DUB: Source = {
  reads: "its CSV export, or JSON pages of its API",
  hasDomains: true,
  async *read(input, domain) {
    const scanner = await openScanner(input, EXPECTED);
    const domains = openDomains(domain);
    const toItem = (place: string, fields: Fields | undefined) =>
      readRow(place, fields?.["short"], () => {
        if (fields === undefined) throw new BadRow("it has too few or too many cells");
        domains.take(address(fields["short"]).domain);
        return readLink(fields, place);
      });
    for await (const { place, fields } of isJson(scanner) ? readJson(scanner) : readTable(scanner))
      yield toItem(place, fields);
    domains.end();
  },
};

interface DubRow {
  readonly place: string;
  readonly fields: Fields | undefined;
}

async function* readTable(scanner: Scanner): AsyncGenerator<DubRow> {
  for await (const { place, cells } of readCsv(scanner, { names: COLUMNS, required: ["short", "url"] }))
    yield { place, fields: cells };
}

async function* readJson(scanner: Scanner): AsyncGenerator<DubRow> {
  for await (const { place, value } of readObjects(scanner, ["", "links"])) {
    const { shortLink: short, url, clicks: visits, createdAt: created, ...rest } = value;
    yield { place, fields: { ...rest, short, url, visits, created } };
  }
}

function readLink(fields: Fields, place: string): SourceItem {
  const isNothing = (value: unknown) => value === undefined || value === null || value === "";
  if (!isNothing(fields["password"])) throw new BadRow("it has a password");
  const code = readable(address(fields["short"]).code);
  return {
    kind: "link",
    key: code,
    place,
    code,
    url: text(fields["url"], "destination"),
    createdMs: instant(fields["created"]),
    endsMs: instant(fields["expiresAt"]),
    visits: count(fields["visits"]),
    ...(!isNothing(fields["disabledAt"]) && { disabled: "other" }),
  };
}

/** Dub keeps codes of other scripts in Punycode, and looks them up in it, too. Its CSV file has them as they are typed. */
function readable(code: string): string {
  try {
    return toUnicode(code);
  } catch {
    // It only looks like Punycode.
    return code;
  }
}
