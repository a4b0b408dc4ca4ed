import { writeSync } from "node:fs";

import { reasonOf } from "../../lib/error-reason.ts";
import { escapeLine } from "../../lib/escape-line.ts";
import { StoreUnusable } from "../../links/store.ts";

const STANDARD_OUTPUT = 1;
/** Whoever reads a pipe that does not block is given this long before the next try. */
const FULL_PAUSE_MS = 5;

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

/** Prints one object as a line of JSON. */
export function printJson(value: object): void {
  print(escapeLine(JSON.stringify(value)));
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
