import { writeSync } from "node:fs";

import { escapeLine } from "../escape.ts";
import { StoreUnusable } from "../links/store.ts";
import { reasonOf } from "../system.ts";

const STANDARD_OUTPUT = 1;
/** Whoever reads a pipe that does not block is given this long before the next try. */
const FULL_PAUSE_MS = 5;

export type Row = Readonly<Record<string, unknown>>;

/** Prints lines. Throws {@link StoreUnusable} if they are lost, where console.log says nothing and a script would go on. */
export function print(lines: string): void {
  printBytes(new TextEncoder().encode(`${lines}\n`));
}

/** The same for bytes as they are. */
export function printBytes(bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) {
    try {
      written += writeSync(STANDARD_OUTPUT, bytes, written);
    } catch (error) {
      if ((error as { code?: string }).code !== "EAGAIN") throw outputLost(error);
      Bun.sleepSync(FULL_PAUSE_MS);
    }
  }
}

function outputLost(cause: unknown): StoreUnusable {
  return new StoreUnusable(`standard output is not complete: ${reasonOf(cause)}.`, { cause });
}

/** Prints rows: for people as a table of some columns, for programs as one JSON object a line, with everything. */
export function printRows(rows: readonly Row[], columns: readonly string[], isJson: boolean): void {
  if (isJson) return rows.forEach((row) => printRow(row, true));
  const cells = rows.map((row) => columns.map((column) => escapeLine(inWords(row[column]))));
  const table = [columns.map((column) => column.toUpperCase().replaceAll("_", " ")), ...cells];
  const widths = columns.map((_, nth) =>
    table.reduce((width, line) => Math.max(width, Bun.stringWidth(line[nth] ?? "")), 0),
  );
  const lines = table.map((line) =>
    line
      .map((cell, nth) => padded(cell, widths[nth] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  print(lines.join("\n"));
}

/** Prints one row: for people with a field a line. */
export function printRow(row: Row, isJson: boolean): void {
  if (isJson) return print(escapeLine(JSON.stringify(row)));
  const fields = Object.entries(row).filter(([, value]) => value !== null);
  const width = Math.max(...fields.map(([name]) => name.length));
  for (const [name, value] of fields)
    print(`${name.replaceAll("_", " ").padEnd(width)}  ${escapeLine(inWords(value))}`);
}

function inWords(value: unknown): string {
  if (value === null || value === undefined) return "-";
  if (typeof value === "string") return value;
  if (typeof value !== "object") return JSON.stringify(value);
  return Object.entries(value)
    .map(([name, part]) => `${name}: ${inWords(part)}`)
    .join(", ");
}

/** Characters of some scripts take two places on a terminal. */
function padded(text: string, width: number): string {
  return text + " ".repeat(width - Bun.stringWidth(text));
}

/** Such as "1 line" and "2,000 lines". */
export function plural(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** Returns the exit code of a command that failed. */
export function fail(text: string): number {
  console.error(`curt: ${escapeLine(text)}`);
  return 1;
}

/** For people, beside what was asked for. On a terminal, Bun writes console.error in red. */
export function note(text: string): void {
  process.stderr.write(`${escapeLine(text)}\n`);
}
