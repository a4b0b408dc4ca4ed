// Links of golink (https://github.com/tailscale/golink), as its /.export writes them: one JSON object per line.
import { MAX_CODE_POINTS } from "../links/code.ts";
import { isName } from "../links/name.ts";
import { orNone } from "../links/terms/term-values.ts";
import { createLinkReader, type LinkOptions } from "./csv.ts";
import { BrokenLine, isObject, optional, record, text } from "./field-codecs.ts";
import type { ImportItem, InputFile } from "./import-items.ts";
import { readBlocks } from "./lines.ts";

const LINK = record<{ short: string; long: string; created: string | undefined; owner: string | undefined }>({
  short: ["Short", text],
  long: ["Long", text],
  created: ["Created", optional(text)],
  owner: ["Owner", optional(text)],
});

/** The templates that only insert the path. */
const PATH_TEMPLATE = /\{\{\s*(?:(?:Path|Query)Escape\s+)?\.Path\s*\}\}/g;
/** Curt would replace this, and golink sends it as it is. */
const LITERAL_PLACE = /\{path\}|%7Bpath%7D/i;
/** The zero time of Go. */
const NO_TIME = /^0001-/;
const HYPHENATED = /^\w[\w-]*-[\w-]*$/;

export interface GolinkOptions extends LinkOptions {
  /** Called for each link whose owner has a name that nobody can have here. */
  onNoOwner(): void;
}

export function isGolink(firstLine: string): boolean {
  return /^\uFEFF?\{\s*"Short"\s*:/.test(firstLine);
}

/** Reads golink's links. Those with hyphens also get a code without, because golink ignores hyphens. */
export async function* readGolink(input: InputFile, options: GolinkOptions): AsyncGenerator<ImportItem> {
  const toItems = createItemReader(options);
  let number = 0;
  for await (const { lines } of readBlocks(input.bytes()))
    for (const line of lines) {
      number++;
      if (line?.trim() === "") continue;
      try {
        yield* toItems(line, number);
      } catch (error) {
        if (!(error instanceof BrokenLine)) throw error;
        options.onBroken(number, error.message);
      }
    }
}

function createItemReader(options: GolinkOptions) {
  const toLinks = createLinkReader(options);
  return function* (line: string | undefined, number: number): Generator<ImportItem> {
    const { short, long, created = "", owner = "" } = parseLine(line);
    if (LITERAL_PLACE.test(long)) {
      const [place, code] = [`line ${number}`, short.slice(0, MAX_CODE_POINTS)];
      const reason = "its destination has a {path} of its own, which Curt would replace";
      yield { kind: "skipped", place, code, reason };
      return;
    }
    const isOwner = isName(owner);
    if (owner !== "" && !isOwner) options.onNoOwner();
    const plain = HYPHENATED.test(short) ? short.replaceAll("-", "") : "";
    const cells = {
      code: short,
      custom: plain,
      target: long.replaceAll(PATH_TEMPLATE, "{path}"),
      created: NO_TIME.test(created) ? "" : created,
      forwardQuery: "true",
      forwardPath: "true",
    };
    for (const item of toLinks(cells, number)) {
      if (item.kind !== "link") yield item;
      else
        yield {
          ...item,
          // golink's table of clicks has small letters without hyphens. All clicks are of the link as it was written.
          key: item.key === plain ? short : String(item.key).replaceAll("-", "").toLowerCase(),
          terms: orNone({ ...item.terms, owner: isOwner ? owner : undefined }),
        };
    }
  };
}

function parseLine(line: string | undefined) {
  let value: unknown;
  try {
    value = JSON.parse(line?.replace(/^\uFEFF/, "") ?? "");
  } catch {
    // As wrong as another value.
  }
  if (!isObject(value)) throw new BrokenLine("it is no JSON object");
  return LINK.read(value, "link");
}
