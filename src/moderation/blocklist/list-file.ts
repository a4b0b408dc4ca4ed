import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

import { readLine } from "./list-line.ts";
import { createListBuilder, type ListKey, type ListTable } from "./list-table.ts";

/** In bytes. A million hosts take about 20 MB. */
export const MAX_FILE_BYTES = 512 * 1024 * 1024;
/** In characters. Longer lines are skipped. */
const MAX_LINE_LENGTH = 4096;
/** Their table takes 64 MiB. */
export const MAX_RULES = 4_000_000;
const CHUNK_BYTES = 256 * 1024;
const LINE_FEED = 10;
const CUT = { isCut: true, isEnded: true };

export interface ReadList {
  readonly table: ListTable;
  readonly rules: number;
  /** Lines that were too long or not understood. */
  readonly skipped: number;
  /** True if the rest of the file was not read, because it has too many rules or bytes. */
  readonly isCut: boolean;
  /** True if the last line ends with a line feed. Almost all files end so, unless only a part of one was written. */
  readonly isEnded: boolean;
}

/** The file is not a text file. */
export class NotAList extends Error {
  override readonly name = "NotAList";
}

/** Reads a list of hosts and addresses. Throws {@link NotAList}, or the system's error. */
export function readListFile(path: string, key: ListKey): ReadList {
  const builder = createListBuilder(key);
  let skipped = 0;
  function take(line: string | undefined): boolean {
    const rules = line === undefined || line.length > MAX_LINE_LENGTH ? undefined : readLine(line);
    if (rules === undefined) skipped++;
    else for (const rule of rules) builder.add(rule);
    return builder.rules < MAX_RULES;
  }
  const read = eachLine(path, take);
  return { table: builder.build(), rules: builder.rules, skipped, ...read };
}

/**
 * Reads a file in chunks, because a long one as a single string would take too much memory. A line that is longer than a
 * chunk is undefined. Stops if `take` returns false.
 */
function eachLine(
  path: string,
  take: (line: string | undefined) => boolean,
): Pick<ReadList, "isCut" | "isEnded"> {
  // Otherwise, opening a named pipe would block until somebody writes into it.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) throw new NotAList("it is not a file");
    const chunk = Buffer.alloc(CHUNK_BYTES);
    let carried = 0;
    let isInLongLine = false;
    for (let total = 0; total < MAX_FILE_BYTES;) {
      const count = readSync(file, chunk, carried, CHUNK_BYTES - carried, null);
      if (chunk.subarray(carried, carried + count).includes(0))
        throw new NotAList("it has zero bytes, so it is not text");
      total += count;
      const filled = carried + count;
      const end = count === 0 ? filled : chunk.lastIndexOf(LINE_FEED, filled - 1) + 1;
      if (end > 0) {
        const lines = chunk.toString("utf8", 0, count === 0 ? end : end - 1).split("\n");
        for (const line of isInLongLine ? lines.slice(1) : lines) if (!take(line)) return CUT;
        isInLongLine = false;
      } else if (filled === CHUNK_BYTES) {
        if (!isInLongLine) take(undefined);
        isInLongLine = true;
      }
      if (count === 0) return { isCut: false, isEnded: filled === 0 && !isInLongLine };
      carried = isInLongLine ? 0 : chunk.copy(chunk, 0, end, filled);
    }
    return CUT;
  } finally {
    closeSync(file);
  }
}
