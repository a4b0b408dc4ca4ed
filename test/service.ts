import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { readConfig } from "../src/config.ts";
import { createLog } from "../src/log.ts";
import { type Limits, startService } from "../src/service.ts";

export const ROOT = resolve(import.meta.dir, "..");
export const BASE_URL = "https://curt.example";

export type Settings = Readonly<Record<string, string>>;

/** A service to talk to. Whatever it answers with 5xx, or logs as an error, fails the test unless declared. */
export interface Running extends AsyncDisposable {
  readonly origin: string;
  /** Path of its SQLite file. */
  readonly file: string;
  readonly logged: string[];
  fetch(path: string, init?: RequestInit): Promise<Response>;
  shorten(body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** From now on 5xx and error lines are expected. */
  expectFaults(): void;
}

export interface Program extends Running {
  readonly pid: number;
  readonly exited: Promise<number>;
  kill(signal: NodeJS.Signals): void;
}

/** A folder that is gone when the test is. */
export function temporaryFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "curt-test-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

function settingsFor(folder: string, settings: Settings): Settings {
  return { PORT: "0", BASE_URL, DATABASE_URL: `sqlite:${join(folder, "curt.db")}`, ...settings };
}

/** Visits reach the store, and are seen, sooner than they usually are, so that tests need not wait for them. */
const USUAL_LIMITS: Limits = { tickMs: 20, sharedMs: 0 };

export interface HereOptions {
  readonly limits?: Limits;
  /** Kept when the service ends; otherwise it gets a folder of its own. */
  readonly folder?: string;
}

/** The service inside this process: everything real, from the port to the file. */
export async function startHere(settings: Settings = {}, options: HereOptions = {}): Promise<Running> {
  const own = options.folder === undefined ? temporaryFolder() : undefined;
  const folder = options.folder ?? own?.path ?? "";
  const logged: string[] = [];
  const output = { isTTY: false, writableLength: 0, on() {}, write: (line: string) => logged.push(line) };
  const log = createLog("debug", output as unknown as NodeJS.WriteStream);
  const config = readConfig(settingsFor(folder, settings));
  const service = await startService(config, log, { ...USUAL_LIMITS, ...options.limits });
  return client(`http://127.0.0.1:${service.port}`, config.database.path, logged, async () => {
    await service.stop();
    own?.[Symbol.dispose]();
  });
}

export interface ProgramOptions {
  readonly command?: readonly string[];
  /** Kept when the program ends; otherwise it gets a folder of its own. */
  readonly folder?: string;
}

/** The program as its operator starts it. */
export async function startProgram(settings: Settings = {}, options: ProgramOptions = {}): Promise<Program> {
  const own = options.folder === undefined ? temporaryFolder() : undefined;
  const folder = options.folder ?? own?.path ?? "";
  const env = { ...process.env, ...settingsFor(folder, settings) };
  const child = Bun.spawn([...(options.command ?? [process.execPath, "src/main.ts", "serve"])], {
    cwd: ROOT,
    env,
    stdout: "pipe",
    stderr: "inherit",
  });
  const logged: string[] = [];
  const origin = await listening(child.stdout, logged);
  if (origin === undefined) {
    throw new Error(`the program did not start (exit code ${await child.exited}): ${logged.join("")}`);
  }
  const running = client(origin, join(folder, "curt.db"), logged, async () => {
    child.kill("SIGTERM");
    await child.exited;
    own?.[Symbol.dispose]();
  });
  return Object.assign(running, {
    pid: child.pid,
    exited: child.exited,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
  });
}

/** Resolves with the origin that the first line tells, and goes on collecting lines. */
function listening(output: ReadableStream<Uint8Array>, logged: string[]): Promise<string | undefined> {
  const { promise, resolve: told } = Promise.withResolvers<string | undefined>();
  async function collect(): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of output) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      logged.push(...lines);
      const [origin] = lines.join("\n").match(/(?<=listens on )http:\/\/[^\s"]+/) ?? [];
      if (origin !== undefined) told(origin);
    }
  }
  void collect().finally(() => told(undefined));
  return promise;
}

/** Resolves once a line of the log contains `text`. */
export async function untilLogged({ logged }: Running, text: string): Promise<void> {
  while (!logged.some((line) => line.includes(text))) await Bun.sleep(5);
}

function client(origin: string, file: string, logged: string[], stop: () => Promise<void>): Running {
  let faultsExpected = false;
  async function request(path: string, init: RequestInit = {}): Promise<Response> {
    const response = await fetch(`${origin}${path}`, { redirect: "manual", ...init });
    if (response.status >= 500 && !faultsExpected) {
      throw new Error(`${init.method ?? "GET"} ${path}: ${response.status} ${await response.text()}`);
    }
    return response;
  }
  return {
    origin,
    file,
    logged,
    fetch: request,
    shorten: (body, headers = {}) =>
      request("/api/v1/shorten", {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers },
        body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
      }),
    expectFaults() {
      faultsExpected = true;
    },
    async [Symbol.asyncDispose]() {
      await stop();
      const faults = logged.filter((line) => line.includes('"level":"error"'));
      if (faults.length > 0 && !faultsExpected) throw new Error(`logged: ${faults.join("")}`);
    },
  };
}
