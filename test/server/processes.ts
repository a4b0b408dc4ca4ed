// Starts and observes several processes of one program.
import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { connect } from "node:net";

import { CHILD } from "../../src/server/child-process.ts";
import {
  type Program,
  type ProgramOptions,
  type Settings,
  startProgram,
  PROGRAM,
} from "../support/service.ts";

export const PROCESSES = 3;
export const TARGET = "https://example.com/";
/** The time limit for anything a test waits for. Tests assert no shorter times. */
const PATIENCE_MS = 120_000;
/** Requests to a process that answers 503 because its machine is busy. */
const MAX_TRIES = 4;

export const started = new Set<number>();

/** For `afterEach`: stops processes of failed tests. */
export function killStarted(): void {
  for (const pid of started) if (isAlive(pid)) process.kill(pid, "SIGKILL");
  started.clear();
}

export async function startSeveral(settings: Settings = {}, options: ProgramOptions = {}): Promise<Program> {
  const several = { PROCESSES: String(PROCESSES), LOG_LEVEL: "debug", ...settings };
  const program = await startProgram(several, options);
  started.add(program.pid);
  for (const pid of children(program)) started.add(pid);
  return program;
}

interface Line {
  readonly msg: string;
  readonly pid: number;
  readonly code?: string;
  readonly child?: number;
  readonly children?: number[];
}

const lines = (program: Program) => program.logged.map((line) => JSON.parse(line) as Line);
export const linesThatSay = (program: Program, text: string) =>
  lines(program).filter(({ msg }) => msg.includes(text));
export const children = (program: Program) => linesThatSay(program, "listens on")[0]?.children ?? [];

/** The children of a process, from the kernel: also those that don't listen yet. */
export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
}

/** Whether a child runs Curt. Before that, its supervisor waits for it (vfork), so SIGSTOP would stop both. */
export function hasStarted(pid: number): boolean {
  return (
    process.platform !== "linux" || readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`\0${CHILD}\0`)
  );
}

/** Zombies (processes that have ended but have not been waited for) count as dead. */
export function isAlive(pid: number): boolean {
  try {
    if (process.platform !== "linux") return process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** The number of sockets that listen on the port, from the kernel's table. */
export function listeners(origin: string): number {
  const port = Number(new URL(origin).port).toString(16).toUpperCase().padStart(4, "0");
  const sockets = readFileSync("/proc/net/tcp", "utf8").split("\n");
  return sockets.filter((socket) => new RegExp(`^ *\\d+: \\w+:${port} \\w+:0000 0A `).test(socket)).length;
}

export async function until<T>(
  condition: string,
  check: () => T | undefined | false | Promise<T | undefined | false>,
) {
  const patience = AbortSignal.timeout(PATIENCE_MS);
  while (!patience.aborted) {
    const result = await check();
    if (result !== undefined && result !== false) return result;
    await Bun.sleep(5);
  }
  throw new Error(`waited too long until ${condition}`);
}

/** Opens a keep-alive connection. One process answers all its requests. */
export function open(origin: string) {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname).setEncoding("utf8");
  let received = "";
  let onProgress = () => {};
  let closed = false;
  socket.on("data", (text) => {
    received += text;
    onProgress();
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    closed = true;
    onProgress();
  });
  return {
    async request(
      method: string,
      path: string,
      body = "",
      cookie = "",
    ): Promise<{ status: number; location?: string }> {
      received = "";
      socket.write(
        `${method} ${path} HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
      for (;;) {
        const [head = "", rest] = received.split("\r\n\r\n", 2);
        const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
        if (rest !== undefined && Buffer.byteLength(rest) >= length) {
          const [, location] = /^location: (\S+)/im.exec(head) ?? [];
          return { status: Number(head.split(" ")[1]), ...(location !== undefined && { location }) };
        }
        if (closed) throw new Error("the connection is closed");
        await new Promise<void>((resolve) => (onProgress = resolve));
      }
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}
type Connection = ReturnType<typeof open>;

/** Opens a connection to each of these processes. To distinguish them, creates links and looks up in the log which one did. */
export async function openEach(program: Program, pids: readonly number[]) {
  const disposing = new DisposableStack();
  const connections = new Map<number, Connection>();
  await until(`each of ${pids.join()} answers`, async () => {
    const connection = disposing.use(open(program.origin));
    const custom_code = `probe-${crypto.randomUUID()}`;
    const { status } = await connection.request("POST", "/api/v1/shorten", create(custom_code));
    // Too busy.
    if (status === 503) return false;
    expect(status).toBe(201);
    const line = await until("the link is logged", () =>
      lines(program).find(({ code }) => code === custom_code),
    );
    connections.set(line.pid, connection);
    return pids.every((pid) => connections.has(pid));
  });
  async function getFrom(pid: number, path: string, cookie?: string) {
    let response = await connections.get(pid)?.request("GET", path, "", cookie);
    for (let tries = 1; response?.status === 503 && tries < MAX_TRIES; tries++)
      response = await connections.get(pid)?.request("GET", path, "", cookie);
    return response ?? { status: 0 };
  }
  return {
    of: (pid: number) => connections.get(pid) as Connection,
    /** Sends a GET to every process, again to those that are too busy for it. */
    get: (path: string, cookie?: string) => Promise.all(pids.map((pid) => getFrom(pid, path, cookie))),
    [Symbol.dispose]: () => disposing.dispose(),
  };
}

export const create = (custom_code: string, original_url = TARGET) =>
  JSON.stringify({ original_url, custom_code });
export const all = <T>(response: T) => Array.from({ length: PROCESSES }, () => response);

/** Starts the program with settings that must make it fail. */
export async function refused(settings: Settings) {
  const child = Bun.spawn([process.execPath, PROGRAM, "serve"], {
    env: { ...process.env, PROCESSES: String(PROCESSES), ...settings },
    stdout: "pipe",
    stderr: "pipe",
  });
  started.add(child.pid);
  const [code, stdout, stderr] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
  return { code, stdout, stderr };
}
