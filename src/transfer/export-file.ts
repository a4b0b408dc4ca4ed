import type { LinkId } from "../links/link-store.ts";
import type { StoredLink } from "../links/link.ts";
import {
  type Counts,
  type Kind,
  KINDS,
  type LinkDay,
  noCounts,
  type RecordOf,
  type Records,
  type WriteRecords,
} from "../store/shared/records.ts";
import { checkHeader, type ExportLine, parseLine, writeHeader, writeLine } from "./export-line.ts";
import { BrokenLine } from "./field-codecs.ts";
import { type ImportItem, type OnBrokenLine, UnreadableFile } from "./import-items.ts";
import { readBlocks } from "./lines.ts";

/** The minimum length of a write, in UTF-16 units. */
const CHUNK_LENGTH = 256 * 1024;

/** Writes an export of one snapshot, in bounded memory. Waits for each `write`. */
export async function exportRecords(
  records: Pick<Records, "snapshot" | "codeCase">,
  write: (bytes: Uint8Array) => Promise<void>,
  onRecords: (count: number) => void,
): Promise<Counts> {
  const hasher = new Bun.CryptoHasher("sha256");
  let pending = writeHeader(await records.codeCase());
  const flush = async () => {
    const bytes = Buffer.from(pending);
    pending = "";
    hasher.update(bytes);
    await write(bytes);
  };
  const counts = noCounts();
  await records.snapshot(async (read) => {
    for (const kind of KINDS)
      for await (const batch of read<Kind>(kind)) {
        for (const record of batch) pending += writeLine(kind, record);
        counts[kind] += batch.length;
        onRecords(batch.length);
        if (pending.length >= CHUNK_LENGTH) await flush();
      }
  });
  await flush();
  await write(Buffer.from(writeLine("end", { records: counts, sha256: hasher.digest("hex") })));
  return counts;
}

/** Consecutive records of one kind. */
interface Run {
  readonly kind: Kind;
  /** The line number of the first record. */
  readonly line: number;
  readonly records: RecordOf[Kind][];
}

interface ReadOptions {
  readonly onBroken: OnBrokenLine;
  /** The last day that may have visits. */
  readonly lastDay: number;
}

/** Throws {@link UnreadableFile} if this isn't an export. Reports truncation and changes as broken lines. */
async function* readExport(
  bytes: AsyncIterable<Uint8Array>,
  { onBroken, lastDay }: ReadOptions,
): AsyncGenerator<Run> {
  let number = 0;
  /** Undefined after a broken line, because its kind is unknown. */
  let counts: Record<Kind, number> | undefined = noCounts();
  let isComplete = false;
  for await (const { lines, sha256 } of readBlocks(bytes)) {
    const runs: Run[] = [];
    for (const [index, line] of lines.entries()) {
      number++;
      if (number === 1) {
        const problem = checkHeader(line);
        if (problem !== undefined) throw new UnreadableFile(problem);
        continue;
      }
      const parsed = parse(line, lastDay);
      if (typeof parsed === "string") {
        onBroken(number, parsed);
        counts = undefined;
      } else if (isComplete) onBroken(number, "it comes after the last line of an export");
      else if (parsed.kind === "end") {
        isComplete = true;
        const { records, sha256: expectedHash } = parsed.record;
        if (index === lines.length - 1 && expectedHash !== sha256)
          onBroken(number, "the lines before it were changed since they were written");
        const wrong = KINDS.find((kind) => counts !== undefined && counts[kind] !== records[kind]);
        if (wrong !== undefined)
          onBroken(
            number,
            `lines of the kind ${wrong}: it counts ${records[wrong]}, and there are ${counts?.[wrong]}`,
          );
      } else {
        if (counts !== undefined) counts[parsed.kind]++;
        const run = runs.at(-1);
        if (run?.kind === parsed.kind && run.line + run.records.length === number)
          run.records.push(parsed.record);
        else runs.push({ kind: parsed.kind, line: number, records: [parsed.record] });
      }
    }
    yield* runs;
  }
  if (number === 0) throw new UnreadableFile("is empty.");
  if (!isComplete) onBroken(number + 1, "the file was cut off: its last line is missing");
}

/** Returns what is wrong with a broken line. */
function parse(line: string | undefined, lastDay: number): ExportLine | string {
  try {
    const parsed = parseLine(line);
    return parsed.kind === "day" && parsed.record.day > lastDay ? "day must not be in the future" : parsed;
  } catch (error) {
    if (error instanceof BrokenLine) return error.message;
    throw error;
  }
}

interface FillOptions extends ReadOptions {
  skipLink(link: StoredLink, line: number): boolean;
  onRecords(count: number): void;
}

/** Writes an export to an empty store. Returns the number of records written. */
export async function fillFrom(
  bytes: AsyncIterable<Uint8Array>,
  write: WriteRecords,
  { onBroken, lastDay, skipLink, onRecords }: FillOptions,
): Promise<Counts> {
  const counts = noCounts();
  const repeated = noCounts();
  let lastLine = 0;
  for await (const { kind, line, records } of readExport(bytes, { onBroken, lastDay })) {
    const accepted =
      kind === "link"
        ? (records as StoredLink[]).filter((link, nth) => !skipLink(link, line + nth))
        : records;
    const added = await write<Kind>(kind, accepted);
    counts[kind] += added;
    repeated[kind] += accepted.length - added;
    lastLine = line + records.length;
    onRecords(records.length);
  }
  for (const kind of KINDS)
    if (repeated[kind] > 0)
      onBroken(lastLine, `lines of the kind ${kind} that repeat another one: ${repeated[kind]}`);
  return counts;
}

/** Reads links and visits. Other records belong to the exporting store and are only reported. */
export async function* readLinksAndVisits(
  bytes: AsyncIterable<Uint8Array>,
  { onOther, ...options }: ReadOptions & { onOther(kind: Kind): void },
): AsyncGenerator<ImportItem> {
  for await (const { kind, records, line } of readExport(bytes, options))
    for (const [nth, record] of records.entries())
      if (kind === "link") {
        const link = record as StoredLink;
        yield { kind, key: keyOf(link), place: `line ${line + nth}`, ...link };
      } else if (kind === "day") {
        const { day, visits, bots, detail, ...id } = record as LinkDay;
        yield { kind: "visits", key: keyOf(id), day, visits, bots, detail };
      } else onOther(kind);
}

function keyOf({ code, createdMs }: LinkId): string {
  return `${createdMs} ${code}`;
}
