import { count, dayOf, instant } from "./csv-cells.ts";
import { readTable } from "./csv-table.ts";
import type { ReadOptions } from "./read-export.ts";
import { BrokenLine } from "./record-fields.ts";
import type { Input, SourceItem, SourceLink } from "./source.ts";

/** Bitly and Dub export addresses instead of codes, Bitly a second one with a code of the maker's choice. */
const LINKS = {
  code: ["code", "short link", "short url", "link", "bitlink"],
  custom: ["custom link", "custom bitlinks"],
  target: ["target", "url", "destination url", "long url"],
  created: ["created", "created at", "date created"],
  expires: ["expires"],
  visits: ["visits", "clicks", "total clicks", "total engagements"],
} as const;
const VISITS = { code: ["code"], day: ["day"], visits: ["visits"] } as const;

type Cells = Readonly<Partial<Record<keyof typeof LINKS, string>>>;

interface LinkOptions extends ReadOptions {
  /** Undefined for the domain of the first address. The same code may lead elsewhere on another domain. */
  readonly domain: string | undefined;
}

/** Reads a table of links. Where its codes are addresses, those of other domains are refused. */
export async function* readLinks(
  input: Input,
  { domain, onBroken }: LinkOptions,
): AsyncGenerator<SourceItem> {
  let wanted = domain && (URL.parse(`https://${domain}`)?.host ?? domain);
  for await (const { line, cells } of readTable(
    input,
    { names: LINKS, required: ["code", "target"] },
    onBroken,
  )) {
    const place = `line ${line}`;
    const codes = new Set<string>();
    try {
      for (const cell of addressesOf(cells)) {
        const { host, code } = parseAddress(cell);
        wanted ??= host;
        if (host === undefined || host === wanted) codes.add(code);
        else
          yield {
            kind: "refused",
            place,
            code: cell,
            reason: `it isn't of ${wanted} (choose with --domain)`,
          };
      }
      yield* linksOf([...codes], cells, place);
    } catch (error) {
      if (!(error instanceof BrokenLine)) throw error;
      onBroken(line, error.message);
    }
  }
}

/** Reads a table of visits by day, in any order. */
export async function* readVisits(input: Input, { onBroken }: ReadOptions): AsyncGenerator<SourceItem> {
  const columns = { names: VISITS, required: ["code", "day", "visits"] } as const;
  for await (const { line, cells } of readTable(input, columns, onBroken))
    try {
      yield {
        kind: "visits",
        key: cells.code ?? "",
        day: dayOf(cells.day),
        visits: count(cells.visits) ?? 0,
      };
    } catch (error) {
      if (!(error instanceof BrokenLine)) throw error;
      onBroken(line, error.message);
    }
}

function addressesOf({ code = "", custom = "" }: Cells): readonly string[] {
  return [code, ...custom.split(/[\s,;|]+/).filter((cell) => cell !== "")];
}

function parseAddress(cell: string): { readonly host?: string; readonly code: string } {
  if (!/^https?:\/\//i.test(cell)) return { code: cell };
  const url = URL.parse(cell);
  try {
    if (url !== null) return { host: url.host, code: decodeURIComponent(url.pathname.slice(1)) };
  } catch {
    // It has a percent sign that escapes nothing.
  }
  throw new BrokenLine("its short address can't be read");
}

/** One link for each code. The last one gets the visits, because only their sum is known. */
function linksOf(codes: readonly string[], cells: Cells, place: string): SourceLink[] {
  const { target: url = "", created, expires, visits } = cells;
  if (`${codes.join("")}${url}`.includes("\uFFFD")) throw new BrokenLine("its code or target is no UTF-8");
  const link = { kind: "link", place, url, createdMs: instant(created), endsMs: instant(expires) } as const;
  const sum = count(visits);
  return codes.map((code, nth) => ({
    ...link,
    key: code,
    code,
    visits: nth === codes.length - 1 ? sum : undefined,
  }));
}
