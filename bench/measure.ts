import { cpuTimeUs, fileReads, machineBusyUs } from "./cpu.ts";
import type { Loaded } from "./load.ts";

/** A server under measurement. */
export interface Server {
  readonly name: string;
  readonly port: number;
  /** The process that answers. */
  readonly pid: number;
}

/** One server under one load for one round. */
export interface Round {
  readonly server: string;
  readonly requests: number;
  readonly durationMs: number;
  readonly requestsPerSecond: number;
  /** User and system time of the server's process, all threads, by answered requests. */
  readonly cpuPerRequestUs: number;
  /** Reads of files by answered requests: about 0 when every answer comes out of memory. */
  readonly fileReadsPerRequest: number;
  /** How much of its core the load generator used: near 1 it is the bottleneck, and only the CPU figure counts. */
  readonly loadCoreShare: number;
  /** Cores that other processes of this machine kept busy meanwhile. */
  readonly otherCores: number;
}

/** From here on a round says more about the other processes than about ours. In cores. */
const DISTURBED_CORES = 0.1;
const QUIET_PROBE_MS = 500;
const QUIET_LIMIT_MS = 20_000;
/** For each round wanted, how many may be measured. */
const TRIES = 2;

/**
 * Measures until there are `count` rounds that other processes did not disturb; with bad luck, fewer of them
 * and some that were disturbed. Which ones count is decided by what the others did, never by our figures.
 */
export async function quietRounds<T extends readonly Round[]>(
  count: number,
  round: () => Promise<T>,
): Promise<T[]> {
  const quiet: T[] = [];
  const disturbed: T[] = [];
  while (quiet.length < count && quiet.length + disturbed.length < count * TRIES) {
    await untilQuiet();
    const measured = await round();
    (measured.some(isDisturbed) ? disturbed : quiet).push(measured);
  }
  return [...quiet, ...disturbed].slice(0, count);
}

export function isDisturbed({ otherCores }: Round): boolean {
  return otherCores > DISTURBED_CORES;
}

/** Waits for other processes to have done their work, but not for ever. */
async function untilQuiet(): Promise<void> {
  const deadlineMs = performance.now() + QUIET_LIMIT_MS;
  let busyCores: number;
  do {
    const beforeUs = machineBusyUs();
    await Bun.sleep(QUIET_PROBE_MS);
    busyCores = (machineBusyUs() - beforeUs) / 1000 / QUIET_PROBE_MS;
  } while (busyCores > DISTURBED_CORES && performance.now() < deadlineMs);
}

/** Puts a load on a server and says what it cost the server. */
export async function measure(server: Server, load: () => Promise<Loaded>): Promise<Round> {
  const { pid } = server;
  const startMs = performance.now();
  const before = {
    cpuUs: cpuTimeUs(pid),
    reads: fileReads(pid),
    busyUs: machineBusyUs(),
    own: process.cpuUsage(),
  };
  const { requests, durationMs, loadCpuUs } = await load();
  const cpuUs = cpuTimeUs(pid) - before.cpuUs;
  const reads = fileReads(pid) - before.reads;
  const own = process.cpuUsage(before.own);
  const otherUs = machineBusyUs() - before.busyUs - cpuUs - loadCpuUs - own.user - own.system;
  return {
    server: server.name,
    requests,
    durationMs: rounded(durationMs, 1),
    requestsPerSecond: rounded((requests / durationMs) * 1000, 1),
    cpuPerRequestUs: rounded(cpuUs / requests, 3),
    fileReadsPerRequest: rounded(reads / requests, 4),
    loadCoreShare: rounded(loadCpuUs / 1000 / durationMs, 3),
    otherCores: rounded(Math.max(0, otherUs / 1000 / (performance.now() - startMs)), 3),
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}

export function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
