import { writeSync } from "node:fs";
import { createInterface } from "node:readline";

import type { Settings } from "../support/service.ts";

/** Separates the outputs and exit codes of commands. No command writes it. */
const END = "\0";

interface Command {
  readonly args: readonly string[];
  readonly settings: Settings;
}

let shared: ReturnType<typeof start> | undefined;

/**
 * Runs the program with these arguments and returns its output. One process runs all commands, because its start takes longer than
 * most of them. `runAlone` starts a process per command.
 */
export async function runCommand(args: readonly string[], settings: Settings = {}) {
  const { child, output, errors } = (shared ??= start());
  void child.stdin.write(`${JSON.stringify({ args, settings } satisfies Command)}\n`);
  const [stdout, stderr] = await Promise.all([output.next(), errors.next()]);
  if (stdout.done === true || stderr.done === true) {
    shared = undefined;
    throw new Error(`The command ended its process: ${stdout.value}${stderr.value}`);
  }
  const { value: code } = await output.next();
  return { code: Number(code), stdout: stdout.value, stderr: stderr.value };
}

function start() {
  const command = [process.execPath, import.meta.path];
  const child = Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "pipe" });
  return { child, output: partsOf(child.stdout), errors: partsOf(child.stderr) };
}

/** Returns the text after the last {@link END}. */
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

/** Runs the program, and continues with the next command where it would exit. */
async function runAll(): Promise<void> {
  const environment = { ...process.env };
  for (const emitter of [process, process.stdout, process.stderr]) emitter.setMaxListeners(0);
  let code: unknown;
  process.exit = ((exitCode) => void (code = exitCode)) as typeof process.exit;
  let count = 0;
  for await (const line of createInterface({ input: process.stdin })) {
    const { args, settings } = JSON.parse(line) as Command;
    process.argv = [process.execPath, "curt", ...args];
    process.env = { ...environment, ...settings };
    code = "none";
    await import(`../../src/main.ts?${++count}`);
    writeSync(1, [END, code, END].join(""));
    writeSync(2, END);
  }
}

if (import.meta.main) await runAll();
