// Link dumps in the BEACON format (https://gbv.github.io/beaconspec/beacon.html), also as URLTeam writes them.
import { createLinkReader, type LinkOptions, MAX_ROW_BYTES } from "./csv.ts";
import { BrokenLine } from "./field-codecs.ts";
import type { ImportItem, InputFile } from "./import-items.ts";
import { readBlocks } from "./lines.ts";

const META_LINE = /^\uFEFF?#([a-z]+):(.*)/i;
const PATTERNS: ReadonlySet<string> = new Set(["PREFIX", "TARGET"]);
/** As an export with --ending writes it. */
const ENDS = /^ends (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)$/;
const ADDRESS = /^https?:\/\//i;

export function isBeacon(firstLine: string): boolean {
  return META_LINE.test(firstLine);
}

/** Reads a link dump. Lines that start with # are meta fields and comments. */
export async function* readBeacon(input: InputFile, options: LinkOptions): AsyncGenerator<ImportItem> {
  const toItems = createLinkReader(options);
  const patterns = new Map<string, string>();
  let number = 0;
  for await (const { lines } of readBlocks(input.bytes()))
    for (const line of lines) {
      number++;
      const [, name, value = ""] = META_LINE.exec(line ?? "") ?? [];
      const field = name?.toUpperCase() ?? "";
      if (PATTERNS.has(field) && value.trim() !== "") patterns.set(field, value.trim());
      if (line !== undefined && /^\s*(?:#|$)/.test(line.replace("\uFEFF", ""))) continue;
      try {
        if (line === undefined || line.length > MAX_ROW_BYTES)
          throw new BrokenLine("it is too long, or no UTF-8");
        const { source, annotation = "", target } = fieldsOf(line, patterns.has("TARGET"));
        const cells = {
          code: expand(patterns.get("PREFIX"), source),
          target: expand(patterns.get("TARGET"), target),
          expires: ENDS.exec(annotation)?.[1] ?? "",
        };
        yield* toItems(cells, number);
      } catch (error) {
        if (!(error instanceof BrokenLine)) throw error;
        options.onBroken(number, error.message);
      }
    }
}

/** A missing target is the source. URLTeam writes no annotations, and addresses with vertical bars as they are. */
function fieldsOf(line: string, hasPattern: boolean) {
  const [source = "", second = "", third, ...more] = line
    .split("|")
    .map((field) => field.trim().replaceAll(/\s+/g, " "));
  const isTarget = !hasPattern && ADDRESS.test(second) && !(more.length === 0 && ADDRESS.test(third ?? ""));
  if (isTarget) return { source, target: line.slice(line.indexOf("|") + 1).trim() };
  if (more.length > 0) throw new BrokenLine("it has more than three fields");
  return { source, annotation: second, target: third || source };
}

function expand(pattern = "{+ID}", field: string): string {
  const encoded = encodeURIComponent(field).replaceAll(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16)}`,
  );
  const whole = /\{\+?ID\}/.test(pattern) ? pattern : `${pattern}{ID}`;
  // A dump could repeat a long field in a long pattern.
  const times = whole.split(/\{\+?ID\}/, MAX_ROW_BYTES).length - 1;
  if (whole.length + times * encoded.length > MAX_ROW_BYTES) throw new BrokenLine("its address is too long");
  return whole.replaceAll("{ID}", () => encoded).replaceAll("{+ID}", () => field);
}
