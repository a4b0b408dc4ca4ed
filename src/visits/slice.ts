import type { Code } from "../links/code.ts";
import type { Day, DetailText } from "./day.ts";

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
   * All rows in one text, because slices go from thread to thread through the one that redirects. That one never looks
   * inside; a store does, with {@link parseRows}.
   */
  readonly rows: string;
}

/** The visits of a link on one day, in days since 1970-01-01 (UTC). */
export interface Row extends Day {
  readonly code: Code;
  readonly createdMs: number;
  readonly day: number;
}

/** One line for each row, with tabs between its fields: codes and details have neither. */
export function writeRows(rows: readonly Row[]): string {
  return rows
    .map(
      ({ code, createdMs, day, visits, bots, detail }) =>
        `${code}\t${createdMs}\t${day}\t${visits}\t${bots}\t${detail}`,
    )
    .join("\n");
}

export function parseRows(rows: string): Row[] {
  return rows.split("\n").map((line) => {
    const [code, createdMs, day, visits, bots, detail] = line.split("\t");
    return {
      code: code as Code,
      createdMs: Number(createdMs),
      day: Number(day),
      visits: Number(visits),
      bots: Number(bots),
      detail: detail as DetailText,
    };
  });
}
