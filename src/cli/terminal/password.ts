import { createInterface } from "node:readline";
import { Writable } from "node:stream";

import type { Environment } from "../command.ts";

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
