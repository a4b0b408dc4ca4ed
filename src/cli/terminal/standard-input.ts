import { createInterface } from "node:readline";
import { Writable } from "node:stream";

/**
 * Yields the lines that arrive together, without empty ones. Lines longer than `maxLength` may be cut to any length from
 * `maxLength` on, so that an endless line takes no endless memory.
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

/** Discards the echo. */
const NOWHERE = { write: (_: unknown, __: unknown, done: () => void) => done() };

/** Reads CURT_PASSWORD or a prompt, which others cannot see, unlike an argument. Undefined without either. */
export async function readPassword({
  CURT_PASSWORD,
}: Readonly<Record<string, string | undefined>>): Promise<string | undefined> {
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
