import type { Subprocess } from "bun";

/** Servers are measured on one core and loaded from another, so that neither takes time from the other. */
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

/** A process that was asked to end has this long before it is killed. */
const STOP_LIMIT_MS = 8000;

const taskset = Bun.which("taskset");
export const PINNED = taskset !== null && navigator.hardwareConcurrency > 1;

const running = new Set<Subprocess>();

export interface StartOptions {
  readonly core: number;
  readonly env?: Readonly<Record<string, string>>;
  /** The working directory; ours without one. */
  readonly folder?: string;
}

/** Starts a server whose output nobody reads; its errors go to ours. {@link stopAll} ends it. */
export function startServer(command: readonly string[], { core, env, folder }: StartOptions): Subprocess {
  return tracked(
    Bun.spawn(pinned(command, core), {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "inherit",
      env: { ...SURROUNDINGS, ...env },
      ...(folder !== undefined && { cwd: folder }),
    }),
  );
}

export interface Run {
  readonly output: string;
  /** What the process used itself, in microseconds. */
  readonly cpuUs: number;
}

/** Runs a command that ends by itself, at the latest after `limitMs`; anything but exit code 0 throws. */
export async function run(command: readonly string[], core: number, limitMs: number): Promise<Run> {
  const child = tracked(
    Bun.spawn(pinned(command, core), {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
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

/** Asks a process to end, and kills it when it does not. */
export async function stop(child: Subprocess): Promise<void> {
  child.kill("SIGTERM");
  const killing = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
  await child.exited;
  clearTimeout(killing);
}

/** Ends everything that was started here and still runs. */
export async function stopAll(): Promise<void> {
  await Promise.all([...running].map(stop));
}

/** Settings of whoever runs the benchmark do not reach what it measures. */
const SURROUNDINGS = { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "" };

/** The command on one core, where there are two and `taskset`. */
export function pinned(command: readonly string[], core: number): string[] {
  return PINNED && taskset !== null ? [taskset, "-c", String(core), ...command] : [...command];
}

function tracked<T extends Subprocess>(child: T): T {
  running.add(child);
  void child.exited.then(() => running.delete(child));
  return child;
}
