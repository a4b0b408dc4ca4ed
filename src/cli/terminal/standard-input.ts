import { createInterface } from "node:readline";
import { Writable } from "node:stream";

import type { Environment } from "../command.ts";

/**
 * Yields the lines that arrive together, without empty ones. A longer line than `maxLength` may be cut, to any length that is not
 * below `maxLength`, so that an endless one isn't collected.
 */
export async function* readLines(
  input: AsyncIterable<Uint8Array>,
  maxLength: number,
): AsyncGenerator<string[]> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of input) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = (lines.pop() ?? "").slice(0, maxLength);
    yield withText(lines);
  }
  yield withText([rest]);
}

function withText(lines: readonly string[]): string[] {
  return lines.map((line) => line.trim()).filter((line) => line !== "");
}

/** Swallows what is typed. */
const NOWHERE = { write: (_: unknown, __: unknown, done: () => void) => done() };

/** Where others cannot see it, unlike an argument: the environment, or a prompt. Undefined if there is neither. */
export async function readPassword({ CURT_PASSWORD }: Environment): Promise<string | undefined> {
  if (CURT_PASSWORD) return CURT_PASSWORD;
  if (!process.stdin.isTTY) return undefined;
  // From here on the terminal does not echo.
  const lines = createInterface({ input: process.stdin, output: new Writable(NOWHERE), terminal: true });
  const typed = new Promise<string | undefined>((resolve) => {
    lines.once("line", resolve);
    lines.once("SIGINT", () => lines.close());
    lines.once("close", () => resolve(undefined));
  });
  process.stderr.write("Password of the link: ");
  try {
    return await typed;
  } finally {
    lines.close();
    process.stderr.write("\n");
  }
}
