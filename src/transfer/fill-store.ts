import type { Link } from "../links/link.ts";
import { type Counts, type Kind, KINDS, noCounts, type WriteRecords } from "../store/records.ts";
import { readExport, type ReadOptions } from "./read-export.ts";

interface FillOptions extends ReadOptions {
  /** Whether a link is left out. */
  leaves(link: Link, line: number): boolean;
  onRecords(count: number): void;
}

/** Writes an export to an empty store. Returns the number of records written. */
export async function fillFrom(
  bytes: AsyncIterable<Uint8Array>,
  write: WriteRecords,
  { onBroken, leaves, onRecords }: FillOptions,
): Promise<Counts> {
  const counts = noCounts();
  const repeated = noCounts();
  let end = 0;
  for await (const { kind, line, records } of readExport(bytes, { onBroken })) {
    const wanted =
      kind === "link" ? (records as Link[]).filter((link, nth) => !leaves(link, line + nth)) : records;
    const added = await write<Kind>(kind, wanted);
    counts[kind] += added;
    repeated[kind] += wanted.length - added;
    end = line + records.length;
    onRecords(records.length);
  }
  for (const kind of KINDS)
    if (repeated[kind] > 0)
      onBroken(end, `lines of the kind ${kind} that repeat another one: ${repeated[kind]}`);
  return counts;
}
