import { DAY_MS } from "../../links/time.ts";
import type { Source, SourceItem } from "../source.ts";
import { readCsv } from "./csv-rows.ts";
import { openDomains } from "./domains.ts";
import { readObjects } from "./json-objects.ts";
import { isJson, openScanner, type Scanner } from "./scanner.ts";
import { address, BadRow, count, dayOf, instant, readRow, text } from "./values.ts";

const EXPECTED =
  "Curt reads pages of GET /rest/v3/short-urls of Shlink, one after the other, or the CSV file that its web client exports";

const LINKS = "shortUrls.data";
const VISITS = "visits.data";
const PAGE = "shortUrls.pagination";
/** A file that says more is not believed. */
const MAX_PAGES = 1_000_000;
const COLUMNS = {
  created: ["createdAt"],
  code: ["shortCode"],
  short: ["shortUrl"],
  url: ["longUrl"],
  visits: ["visits"],
} as const;

type Domains = ReturnType<typeof openDomains>;
type Fields = Readonly<Record<string, unknown>>;

export const SHLINK: Source = {
  reads: "JSON pages of its API, or a CSV export of its web client",
  hasDomains: true,
  async *read(input, domain) {
    const scanner = await openScanner(input, EXPECTED);
    const domains = openDomains(domain);
    yield* isJson(scanner) ? readJson(scanner, domains) : readTable(scanner, domains);
    domains.end();
  },
};

async function* readTable(scanner: Scanner, domains: Domains): AsyncGenerator<SourceItem> {
  const required = ["created", "code", "short", "url"] as const;
  for await (const { place, cells } of readCsv(scanner, { names: COLUMNS, required }))
    yield readRow(place, cells?.code, () => {
      if (cells === undefined) throw new BadRow("it has too few or too many cells");
      domains.take(address(cells.short).domain);
      return {
        kind: "link",
        key: keyOf(cells.short),
        place,
        code: text(cells.code, "code"),
        url: text(cells.url, "URL"),
        createdMs: instant(cells.created),
        visits: count(cells.visits),
      };
    });
}

async function* readJson(scanner: Scanner, domains: Domains): AsyncGenerator<SourceItem> {
  const seen = new Set<unknown>();
  let pages = 0;
  for await (const { name, place, value } of readObjects(scanner, [LINKS, VISITS], [PAGE])) {
    if (name === PAGE) {
      seen.add(value["currentPage"]);
      pages = Math.max(pages, Math.min(Number(value["pagesCount"]) || 0, MAX_PAGES));
      continue;
    }
    yield name === LINKS
      ? readRow(place, value["shortCode"], () => {
          domains.take(address(value["shortUrl"]).domain);
          return readLink(value, place);
        })
      : readRow(place, value["visitedUrl"], () => {
          const isBot = value["potentialBot"] === true;
          return {
            kind: "visits",
            key: keyOf(value["visitedUrl"]),
            day: dayOf(value["date"], DAY_MS),
            visits: isBot ? 0 : 1,
            bots: isBot ? 1 : 0,
          };
        });
  }
  for (let page = 1; page <= pages; page++)
    if (!seen.has(page)) throw scanner.wrong(`has no page ${page} of ${pages}`);
}

function readLink(value: Fields, place: string): SourceItem {
  const { total, nonBots, bots } = (value["visitsSummary"] ?? {}) as Fields;
  const visits = count(total ?? value["visitsCount"]);
  const meta = (value["meta"] ?? {}) as Fields;
  const maxVisits = count(meta["maxVisits"]);
  const startsMs = instant(meta["validSince"]);
  // As many as there were visits, also by programs.
  const used = Math.min(visits ?? 0, maxVisits ?? 0);
  const terms = {
    ...(startsMs !== undefined && { startsMs }),
    ...(maxVisits !== undefined && { maxVisits, visits: used }),
    ...(maxVisits !== undefined && used >= maxVisits && { ended: "visits" as const }),
  };
  return {
    kind: "link",
    key: keyOf(value["shortUrl"]),
    place,
    code: text(value["shortCode"], "code"),
    url: text(value["longUrl"], "URL"),
    createdMs: instant(value["dateCreated"]),
    endsMs: instant(meta["validUntil"]),
    visits: count(nonBots) ?? visits,
    bots: count(bots),
    ...(Object.keys(terms).length > 0 && { terms }),
  };
}

/** Visits name the address that was visited. */
function keyOf(shortUrl: unknown): string {
  const { domain, code } = address(shortUrl);
  return `${domain}/${code}`;
}
