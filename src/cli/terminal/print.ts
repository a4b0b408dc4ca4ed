import { constants, fstatSync, openSync, writeSync } from "node:fs";

import { reasonOf } from "../../lib/error-reason.ts";
import { escapeLine } from "../../lib/log.ts";
import { StoreUnusable } from "../../links/link-store.ts";

const STANDARD_OUTPUT = 1;
/** The width if the output isn't a terminal. */
const PIPE_COLUMNS = 80;
/** Between tries to write to a full pipe that doesn't block. */
const FULL_PAUSE_MS = 5;

/** The exit code if the reader closed the pipe, as shells report it of a program that SIGPIPE ended. */
export const READER_GONE = 141;

/** The reader of standard output has closed the pipe, as `head` does: a command ends without a complaint. */
export class ReaderGone extends Error {
  override readonly name = "ReaderGone";
}

/**
 * Prints lines. Throws {@link ReaderGone}, or {@link StoreUnusable} if they are lost for another reason. console.log would
 * ignore that, and a script would continue.
 */
export function print(lines: string): void {
  try {
    printBytes(new TextEncoder().encode(`${lines}\n`));
  } catch (error) {
    const { code } = (error as Error).cause as { code?: string };
    throw code === "EPIPE" ? new ReaderGone() : error;
  }
}

/** Watches whether the pipe has lost its reader, for a command that waits. */
export function watchReader(): { readonly isGone: boolean } {
  const reader = { isGone: false };
  const socket = { data() {}, close: () => void (reader.isGone = true) };
  try {
    if (!fstatSync(STANDARD_OUTPUT).isFIFO()) return reader;
    // A descriptor of its own, because Bun closes it.
    const fd = openSync("/dev/stdout", constants.O_WRONLY | constants.O_NONBLOCK);
    void Bun.connect({ fd, socket } satisfies Bun.FdSocketOptions as never);
  } catch (error) {
    // Another user's pipe can't be opened. Then the next line to print notices.
    reader.isGone = (error as { code?: string }).code === "ENXIO";
  }
  return reader;
}

/** Prints bytes as they are. Throws {@link StoreUnusable} if they are lost, because a file would be incomplete. */
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

/** The width of the terminal that reads the output. */
export function columns(): number {
  return process.stdout.columns || PIPE_COLUMNS;
}

/** Prints one object as a line of JSON. */
export function printJson(value: object): void {
  print(escapeLine(JSON.stringify(value)));
}

/** Such as "1 line" and "2,000 lines". */
export function plural(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** Prints an error, and returns the exit code. */
export function fail(text: string, code = 1): number {
  console.error(`curt: ${escapeLine(text)}`);
  return code;
}

/** Prints a remark for people. Not with console.error, which Bun prints in red. */
export function note(text: string): void {
  process.stderr.write(`${escapeLine(text)}\n`);
}
