import { expect } from "bun:test";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { PROGRAM } from "../service.ts";

interface Connected extends AsyncDisposable {
  readonly client: Client;
  call(name: string, given: Readonly<Record<string, unknown>>): Promise<Called>;
}

interface Called {
  readonly isError: boolean;
  readonly text: string;
  /** Undefined if it is an error. */
  readonly told: unknown;
}

interface ConnectOptions {
  readonly command?: readonly [string, ...string[]];
  /** Which protocol the client opens with: that of 2025, or the newest that both know. */
  readonly opening?: "legacy" | "auto";
}

/** Runs `curt mcp` as a model's program does, with the client of the SDK. */
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
  // Such as a line on standard output that is not the protocol's.
  client.onerror = (error) => errors.push(error);
  await client.connect(transport);
  return {
    client,
    async call(name, given) {
      const called = await client.callTool({ name, arguments: given });
      const { isError = false, content, structuredContent: told } = called;
      const [block] = content;
      if (content.length !== 1 || block?.type !== "text") throw new Error("the answer is not one text");
      // For programs that do not know structured content.
      if (!isError) expect(JSON.parse(block.text)).toEqual(told);
      return { isError, text: block.text, told };
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      expect(errors).toEqual([]);
    },
  };
}
