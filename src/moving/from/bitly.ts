import type { Source, SourceItem, SourceLink } from "../source.ts";
import { readCsv } from "./csv-rows.ts";
import { openDomains } from "./domains.ts";
import { readObjects } from "./json-objects.ts";
import { isJson, openScanner, type Scanner } from "./scanner.ts";
import { address, count, instant, readRow, text } from "./values.ts";

const EXPECTED =
  "Curt reads the CSV file that Bitly exports (Links, Export), or pages of GET /v4/groups/GROUP/bitlinks, one after the other";

const COLUMNS = {
  link: ["link", "bitlink", "short link", "short url"],
  custom: ["custom link", "custom links", "custom bitlinks", "custom back-half"],
  url: ["long_url", "destination url", "destination"],
  created: ["created_at", "created", "created date", "date created", "creation date"],
  visits: ["clicks", "total clicks", "engagements", "total engagements", "link clicks"],
} as const;

interface Bitlink {
  readonly place: string;
  /** A Bitlink may have several, on several domains. */
  readonly addresses: readonly unknown[];
  readonly url: unknown;
  readonly created: unknown;
  readonly visits?: string | undefined;
}

export const BITLY: Source = {
  reads: "its CSV export, or JSON pages of its API",
  hasDomains: true,
  async *read(input, domain) {
    const scanner = await openScanner(input, EXPECTED);
    const domains = openDomains(domain);
    for await (const bitlink of isJson(scanner) ? readJson(scanner) : readTable(scanner))
      if ("kind" in bitlink) yield bitlink;
      else yield* readLinks(bitlink, domains.take);
    domains.end();
  },
};

async function* readTable(scanner: Scanner): AsyncGenerator<Bitlink | SourceItem> {
  for await (const { place, cells } of readCsv(scanner, { names: COLUMNS, required: ["link", "url"] })) {
    if (cells === undefined) {
      yield { kind: "refused", place, code: "", reason: "it has too few or too many cells" };
      continue;
    }
    const { link, custom = "", url, created, visits } = cells;
    const customs = custom.split(/[\s,;|]+/).filter((one) => one !== "");
    yield { place, addresses: [link, ...customs], url, created, visits };
  }
}

async function* readJson(scanner: Scanner): AsyncGenerator<Bitlink> {
  for await (const { place, value } of readObjects(scanner, ["links"])) {
    const customs = Array.isArray(value["custom_bitlinks"]) ? (value["custom_bitlinks"] as unknown[]) : [];
    yield {
      place,
      addresses: [value["link"] ?? value["id"], ...customs],
      url: value["long_url"],
      created: value["created_at"],
    };
  }
}

/** One link for each address. The last one of the domain gets the visits, as they are known only together. */
function* readLinks(
  { place, addresses, url, created, visits }: Bitlink,
  take: (domain: string) => void,
): Generator<SourceItem> {
  const taken = new Map<string, SourceLink>();
  for (const written of addresses) {
    const item = readRow(place, written, () => {
      const { domain, code } = address(written);
      take(domain);
      return {
        kind: "link",
        key: `${domain}/${code}`,
        place,
        code,
        url: text(url, "destination"),
        createdMs: instant(created),
        visits: count(visits),
      };
    });
    if (item.kind === "link") taken.set(item.code, item);
    else yield item;
  }
  const links = [...taken.values()];
  for (const [nth, link] of links.entries())
    yield nth === links.length - 1 ? link : { ...link, visits: undefined };
}
