import { expect } from "bun:test";
import { existsSync, readFileSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { sendUntilTaken } from "../../support/retry.ts";
import { type Program, PROGRAM, type Settings, startProgram } from "../../support/service.ts";
import type { Failure, SystemCall } from "./syscalls.ts";

export const TRACE = "trace.jsonl";
const TRACER = join(import.meta.dir, "syscalls.ts");

/** Everything that the program did to its disk and its sockets, and the responses of its clients. */
export interface Run {
  readonly calls: readonly SystemCall[];
  /** Code to address of the links confirmed with 201. */
  readonly created: ReadonlyMap<string, string>;
  /** Path of the SQLite file. */
  readonly file: string;
  readonly exitCode: number;
  readonly logged: readonly string[];
}

export interface TracedProgram {
  readonly program: Program;
  /** Creates a link, and retries while the program is overloaded. */
  create(code: string, address?: string): Promise<void>;
  /** Creates a link if the program can. Returns the status; 0 if the program ended. */
  tryToCreate(code: string): Promise<number>;
  /** Lets the next sync of a file whose path ends like this fail. */
  failSyncs(ofFile: string, and?: Failure["and"]): void;
  /** Whether this sync has failed. */
  hasFailed(): boolean;
}

/** Long addresses, so that few links fill the log. */
const LONG = "x".repeat(1500);

/** Runs the real program and records the system calls that decide whether its links survive. */
export async function traceProgram(
  folder: string,
  use: (traced: TracedProgram) => Promise<void>,
  settings: Settings = {},
  bunOptions: readonly string[] = [],
): Promise<Run> {
  const trace = join(folder, TRACE);
  const fail = `${trace}.fail`;
  const command = [process.execPath, TRACER, trace, process.execPath, ...bunOptions, PROGRAM, "serve"];
  const created = new Map<string, string>();
  const program = await startProgram(settings, { command, folder });
  const file = realpathSync(program.file);
  program.expectFaults();
  const send = async (custom_code: string, original_url: string) => {
    const { status } = await program.shorten({ original_url, custom_code });
    if (status === 201) created.set(custom_code, original_url);
    return { status };
  };
  {
    // The tracer gets the signal to stop, and the program is killed with it.
    await using _ = program;
    await use({
      program,
      async create(code, address = `https://example.org/${code}`) {
        // Tracing is so slow that creates of a crowd may wait too long for their turn.
        expect((await sendUntilTaken(() => send(code, address))).status).toBe(201);
      },
      tryToCreate: (code) =>
        send(code, `https://example.org/${code}?${LONG}`).then(
          ({ status }) => status,
          () => 0,
        ),
      failSyncs(ofFile, and) {
        writeFileSync(`${fail}.new`, JSON.stringify({ ofFile, times: 1, and } satisfies Failure));
        renameSync(`${fail}.new`, fail);
      },
      hasFailed: () => !existsSync(fail),
    });
  }
  return { calls: callsOf(trace), created, file, exitCode: await program.exited, logged: program.logged };
}

/** Runs a command that ends by itself. */
export async function traceCommand(
  folder: string,
  command: readonly string[],
): Promise<readonly SystemCall[]> {
  const trace = join(folder, TRACE);
  const tracer = Bun.spawn([process.execPath, TRACER, trace, ...command], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  expect(await tracer.exited).toBe(0);
  return callsOf(trace);
}

/** Runs a command of the program while the next syncs of the file or folder whose path ends like this fail. */
export async function runFailing(
  folder: string,
  ofFile: string,
  args: readonly string[],
  settings: Settings,
  times = 1,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const trace = join(folder, TRACE);
  writeFileSync(`${trace}.fail`, JSON.stringify({ ofFile, times }));
  const child = Bun.spawn([process.execPath, TRACER, trace, process.execPath, PROGRAM, ...args], {
    env: { ...process.env, ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [code, stdout, stderr] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
  return { code, stdout, stderr };
}

function callsOf(trace: string): readonly SystemCall[] {
  const lines = readFileSync(trace, "utf8").split("\n");
  // The last one is cut off: empty, or not finished when the tracer was stopped.
  return lines.slice(0, -1).map((line) => JSON.parse(line) as SystemCall);
}
