import { createInterface } from "node:readline";

import { readCommandLine } from "../../src/cli/command.ts";
import { printBytes } from "../../src/cli/print.ts";
import { readConfig } from "../../src/config.ts";
import type { Settings } from "../service.ts";

/** Ends what a command wrote to an output, and its exit code. No command writes it. */
const END = "\0";

interface Asked {
  readonly args: readonly string[];
  readonly settings: Settings;
}

let shared: ReturnType<typeof start> | undefined;

/**
 * Runs a command of a server and returns what it wrote. One process runs all of them, one after the other, because its start takes
 * longer than most commands. For what the process itself does, see `run`.
 */
export async function runCommand(args: readonly string[], settings: Settings = {}) {
  const { child, output, errors } = (shared ??= start());
  void child.stdin.write(`${JSON.stringify({ args, settings } satisfies Asked)}\n`);
  const [stdout, stderr] = await Promise.all([output.next(), errors.next()]);
  if (stdout.done === true || stderr.done === true) {
    shared = undefined;
    throw new Error(`The command did not end as it should: ${stdout.value}${stderr.value}`);
  }
  const { value: code } = await output.next();
  return { code: Number(code), stdout: stdout.value, stderr: stderr.value };
}

/** Another test may come and start it again. */
export async function closeCommands(): Promise<void> {
  void shared?.child.stdin.end();
  await shared?.child.exited;
  shared = undefined;
}

function start() {
  const command = [process.execPath, import.meta.path];
  const child = Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "pipe" });
  return { child, output: partsOf(child.stdout), errors: partsOf(child.stderr) };
}

/** Returns what comes after the last {@link END}. */
async function* partsOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split(END);
    rest = parts.pop() ?? "";
    yield* parts;
  }
  return rest;
}

async function runAll(): Promise<void> {
  const { COMMANDS } = await import("../../src/cli/commands.ts");
  for await (const line of createInterface({ input: process.stdin })) {
    const { args, settings } = JSON.parse(line) as Asked;
    const asked = readCommandLine(COMMANDS, args);
    if (!("command" in asked) || !("run" in asked.command))
      throw new Error(`no command of a server: ${line}`);
    const code = await asked.command.run(readConfig({ ...process.env, ...settings }), asked.args);
    printBytes(new TextEncoder().encode(`${END}${code}${END}`));
    process.stderr.write(END);
  }
}

if (import.meta.main) await runAll();
