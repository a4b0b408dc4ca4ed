import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import type { Subprocess } from "bun";

export const ROOT = resolve(import.meta.dir, "..");

/** Servers are measured on one core and loaded from another, so that neither takes time from the other. */
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

const taskset = Bun.which("taskset");
export const PINNED = taskset !== null && navigator.hardwareConcurrency > 1;

/** Measured servers don't get the settings of the caller's environment. */
const SURROUNDINGS = { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "" };
/** From SIGTERM until a process is killed. */
const STOP_LIMIT_MS = 8000;
/** USER_HZ (proc(5)): 100 on every Linux that Bun runs on. */
export const TICK_US = 10_000;

const running = new Set<Subprocess>();

/** The command on one core, if there are two cores and `taskset`. */
export function pinned(command: readonly string[], core: number): string[] {
  return PINNED && taskset !== null ? [taskset, "-c", String(core), ...command] : [...command];
}

/** Starts a process whose output goes to a file, or nowhere; its errors go to ours. */
export function start(
  command: readonly string[],
  core: number,
  env: Readonly<Record<string, string>> = {},
  logFile?: string,
): Subprocess {
  return tracked(
    Bun.spawn(pinned(command, core), {
      cwd: ROOT,
      stdio: ["ignore", logFile === undefined ? "ignore" : Bun.file(logFile), "inherit"],
      env: { ...SURROUNDINGS, ...env },
    }),
  );
}

/** Runs a command that ends by itself, at the latest after `limitMs`; any exit code but 0 throws. */
export async function run(
  command: readonly string[],
  core: number,
  limitMs: number,
): Promise<{ output: string; cpuUs: number }> {
  const child = tracked(
    Bun.spawn(pinned(command, core), {
      stdio: ["ignore", "pipe", "inherit"],
      env: SURROUNDINGS,
      timeout: limitMs,
      killSignal: "SIGKILL",
    }),
  );
  const output = await new Response(child.stdout).text();
  const code = await child.exited;
  if (code !== 0) throw new Error(`${command[0]} ended with ${child.signalCode ?? `exit code ${code}`}`);
  return { output, cpuUs: Number(child.resourceUsage()?.cpuTime.total ?? 0) };
}

/** Sends SIGTERM to a process, and kills it if it doesn't end. */
export async function stop(child: Subprocess): Promise<void> {
  child.kill("SIGTERM");
  const killing = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
  await child.exited;
  clearTimeout(killing);
}

/** Cleans up processes and files however `work` ends, even by a signal. */
export async function inTemporaryFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(resolve(tmpdir()), "curt-bench-"));
  const cleanUp = async () => {
    await Promise.all([...running].map(stop));
    rmSync(folder, { recursive: true, force: true });
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => void cleanUp().finally(() => process.exit(1)));
  try {
    await work(folder);
  } finally {
    await cleanUp();
  }
}

function tracked<T extends Subprocess>(child: T): T {
  running.add(child);
  void child.exited.then(() => running.delete(child));
  return child;
}

/** User and system time of a process with all its threads since its start, in steps of 10,000 µs (proc(5), stat). */
export function cpuTimeUs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The second field is the name in parentheses and may hold spaces; utime and stime are the 14th and 15th.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}

/** CPU time of each thread of a process in nanoseconds (Linux, sched-stats). The first thread has the process's number. */
export function threadTimesNs(pid: number): Map<number, number> {
  const times = new Map<number, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const [ns] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ");
      times.set(Number(thread), Number(ns));
    } catch {
      // It has just ended.
    }
  }
  return times;
}

/** CPU time of all cores since the machine's start (proc(5), stat). */
export function machineBusyUs(): number {
  const [user = 0, nice = 0, system = 0, _idle, _waiting, irq = 0, softirq = 0] = readFileSync(
    "/proc/stat",
    "utf8",
  )
    .split(/\s+/, 8)
    .slice(1)
    .map(Number);
  // The kernel's work for loopback counts as softirq here, and as its process's time in cpuTimeUs.
  return (user + nice + system + irq + softirq) * TICK_US;
}

/** Number of calls of read(2) and pread(2) by a process. Sockets use other calls, so these are reads of files. */
export function fileReads(pid: number): number {
  return Number(/^syscr: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1]);
}

/** Own memory in bytes: RssAnon of proc(5), status. It leaves out mapped files, which the system can take back. */
export function ownMemoryBytes(pid: number): number {
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
}

/** All memory in bytes, and its peak: VmRSS and VmHWM. */
export function memoryBytes(pid: number): { now: number; most: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const line = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) * 1024;
  return { now: line("VmRSS"), most: line("VmHWM") };
}

export function openDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

export function firstChild(pid: number): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ");
  if (!child) throw new Error(`process ${pid} has no child`);
  return Number(child);
}
