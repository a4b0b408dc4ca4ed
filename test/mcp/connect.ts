import { afterAll, beforeAll, expect } from "bun:test";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { PROGRAM, type RunningService } from "../support/service.ts";

interface Connected extends AsyncDisposable {
  readonly client: Client;
  call(name: string, input: Readonly<Record<string, unknown>>): Promise<ToolResult>;
}

interface ToolResult {
  readonly isError: boolean;
  readonly text: string;
  /** Undefined if it is an error. */
  readonly result: unknown;
}

interface ConnectOptions {
  readonly command?: readonly [string, ...string[]];
  /** The protocol that the client starts with: that of 2025, or the newest that both support. */
  readonly opening?: "legacy" | "auto";
}

/** Runs `curt mcp` with the client of the SDK, like a program with a model. */
export async function connect(
  env: Readonly<Record<string, string>>,
  { command = [process.execPath, PROGRAM], opening = "auto" }: ConnectOptions = {},
): Promise<Connected> {
  const [program, ...args] = command;
  const transport = new StdioClientTransport({
    command: program,
    args: [...args, "mcp"],
    env: { ...env },
    stderr: "ignore",
  });
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: opening } });
  const errors: Error[] = [];
  // For example a line on standard output that isn't of the protocol.
  client.onerror = (error) => errors.push(error);
  await client.connect(transport);
  return {
    client,
    async call(name, input) {
      const response = await client.callTool({ name, arguments: input });
      const { isError = false, content, structuredContent: result } = response;
      const [block] = content;
      if (content.length !== 1 || block?.type !== "text") throw new Error("the response is not one text");
      // The text is for programs without structured content.
      if (!isError) expect(JSON.parse(block.text)).toEqual(result);
      return { isError, text: block.text, result };
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      expect(errors).toEqual([]);
    },
  };
}

/** One connection to a service for the tests of a file or of a `describe`. */
export function shareTools(curt: Pick<RunningService, "origin">): Pick<Connected, "client" | "call"> {
  const shared = {} as Connected;
  beforeAll(async () => void Object.assign(shared, await connect({ CURT_URL: curt.origin })));
  afterAll(() => shared[Symbol.asyncDispose]());
  return shared;
}
