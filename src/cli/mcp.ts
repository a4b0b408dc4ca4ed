import { MAX_MESSAGE_LENGTH, serveTools } from "../mcp/stdio.ts";
import type { Environment } from "./command.ts";
import { instanceOf } from "./instance-request.ts";
import { readLines } from "./terminal/standard-input.ts";

/** Serves until the model's program closes standard input; resolves with the exit code. */
export async function mcp(environment: Environment): Promise<number> {
  const instance = instanceOf(environment);
  if (instance === undefined) return 2;
  const { origin } = new URL(instance.baseUrl);
  // Standard output belongs to the protocol.
  console.error(`curt: tools for the links of ${origin}, over MCP on standard input and output`);
  await serveTools(instance, readLines(process.stdin, MAX_MESSAGE_LENGTH));
  return 0;
}
