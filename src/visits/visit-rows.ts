import type { Code } from "../links/code.ts";
import { createBytes, readBytes } from "./bytes.ts";
import type { Day } from "./day.ts";
import type { Detail } from "./detail.ts";

/** So many links are added in some milliseconds, for which creates may have to wait. */
export const MAX_ROWS = 500;

/**
 * Some of the visits that a source counted. A source counts under one sequence after the other. All slices of one
 * sequence together have at most one row for each link.
 */
export interface Slice {
  /** Names the life of one process. */
  readonly source: string;
  /** From 1 on. */
  readonly sequence: number;
  /** How many rows the slices before it have, of the same sequence. */
  readonly from: number;
  /** How many rows it has: at most {@link MAX_ROWS}. */
  readonly length: number;
  /**
   * All rows in one string, of one character a byte: slices go from thread to thread through the one that redirects, and
   * Bun passes such a string on without copying it. That thread never looks inside; a store does, with {@link decodeRows}.
   */
  readonly rows: string;
}

/** The visits of a link on one day, in days since 1970-01-01 (UTC). */
export interface Row extends Day {
  readonly code: Code;
  readonly createdMs: number;
  readonly day: number;
}

export function encodeRows(rows: readonly Row[]): string {
  const bytes = createBytes();
  for (const { code, createdMs, day, visits, bots, detail } of rows) {
    const utf8 = Buffer.from(code);
    bytes.number(utf8.length);
    bytes.add(utf8);
    for (const number of [createdMs, day, visits, bots, detail.length]) bytes.number(number);
    bytes.add(detail);
  }
  return Buffer.from(bytes.take().buffer).toString("latin1");
}

export function decodeRows(rows: string): Row[] {
  const from = readBytes(Buffer.from(rows, "latin1"));
  const parsed: Row[] = [];
  while (from.hasMore()) {
    parsed.push({
      code: from.text(from.number()) as Code,
      createdMs: from.number(),
      day: from.number(),
      visits: from.number(),
      bots: from.number(),
      detail: from.part(from.number()) as Detail,
    });
  }
  return parsed;
}
