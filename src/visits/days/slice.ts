import type { LinkKey } from "../../links/code.ts";
import { createBytes, readBytes } from "./bytes.ts";
import type { Day } from "./day.ts";
import type { Detail } from "./detail.ts";

/** Keeps a transaction to a few milliseconds, because creates may wait for it. */
export const MAX_ROWS = 500;

/** A part of a segment, as rows. All slices of a sequence together have at most one row for each link. */
export interface Slice {
  /** Identifies the run of one process. */
  readonly source: string;
  /** Numbers the segments of a source, from 1. */
  readonly sequence: number;
  /** The number of rows in earlier slices of the sequence. */
  readonly from: number;
  /** The number of rows, at most {@link MAX_ROWS}. */
  readonly length: number;
  /**
   * All rows in one Latin-1 string, which Bun passes between threads without a copy. Stores read it with
   * {@link decodeRows}.
   */
  readonly rows: string;
}

/** The visits of a link on one day, in days since 1970-01-01 (UTC). */
export interface Row extends Day {
  readonly code: LinkKey;
  readonly createdMs: number;
  readonly day: number;
}

export function encodeRows(rows: readonly Row[]): string {
  const bytes = createBytes();
  for (const { code, createdMs, day, visits, bots, detail } of rows) {
    bytes.number(Buffer.byteLength(code));
    bytes.text(code);
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
      code: from.text(from.number()) as LinkKey,
      createdMs: from.number(),
      day: from.number(),
      visits: from.number(),
      bots: from.number(),
      detail: from.part(from.number()) as Detail,
    });
  }
  return parsed;
}
