import type { Done } from "./generator.ts";
import type { Load } from "./load.ts";
import { cpuTimeUs, fileReads, machineBusyUs, ownMemoryBytes, threadTimesNs } from "./process.ts";
import type { Server } from "./servers.ts";

/** One server under one load for one round. */
export interface Round extends Done {
  readonly server: string;
  readonly requestsPerSecond: number;
  /** User and system time of all threads of the server, per answered request. */
  readonly cpuPerRequestUs: number;
  /** Reads of files per answered request: about 0 if every response comes from memory. */
  readonly fileReadsPerRequest: number;
  /** The share of its core that the load generator used. Near 1 it is the bottleneck, and only CPU time counts. */
  readonly loadCoreShare: number;
  /** Cores that other processes of this machine kept busy meanwhile. */
  readonly otherCores: number;
}

/** In cores. Above it, other processes affect a round too much. */
const DISTURBED_CORES = 0.1;
const QUIET_PROBE_MS = 500;
const QUIET_LIMIT_MS = 20_000;
/** The most measured rounds per wanted round. */
const TRIES = 2;

/** Puts a load on a server and measures its cost for the server. */
export async function measure(server: Server, load: Load): Promise<Round> {
  const { name, pid } = server;
  const startMs = performance.now();
  const before = { cpuUs: cpuTimeUs(pid), reads: fileReads(pid), busyUs: machineBusyUs() };
  const ownBefore = process.cpuUsage();
  const { loadCpuUs, ...done } = await load(server);
  const { requests, durationMs } = done;
  const cpuUs = cpuTimeUs(pid) - before.cpuUs;
  const own = process.cpuUsage(ownBefore);
  const otherUs = machineBusyUs() - before.busyUs - cpuUs - loadCpuUs - own.user - own.system;
  return {
    server: name,
    ...done,
    durationMs: rounded(durationMs, 1),
    requestsPerSecond: rounded((requests / durationMs) * 1000, 1),
    cpuPerRequestUs: rounded(cpuUs / requests, 3),
    fileReadsPerRequest: rounded((fileReads(pid) - before.reads) / requests, 4),
    loadCoreShare: rounded(loadCpuUs / 1000 / durationMs, 3),
    otherCores: rounded(Math.max(0, otherUs / 1000 / (performance.now() - startMs)), 3),
  };
}

/** CPU time per request, in nanoseconds. */
export interface Cost {
  readonly process: number;
  readonly serving: number;
}

/** The cost of a load for all threads of a server, and for its serving thread. */
export async function costOf(
  server: Server,
  put: (server: Server) => Promise<{ readonly requests: number }>,
): Promise<Cost> {
  const before = threadTimesNs(server.pid);
  const { requests } = await put(server);
  const after = threadTimesNs(server.pid);
  const sum = (times: ReadonlyMap<number, number>) => [...times.values()].reduce((all, ns) => all + ns, 0);
  const main = (times: ReadonlyMap<number, number>) => times.get(server.pid) ?? Number.NaN;
  return {
    process: (sum(after) - sum(before)) / requests,
    serving: (main(after) - main(before)) / requests,
  };
}

/**
 * Measures the contestants in turns, so that a slow phase of the machine affects all of them. Stops after `count` turns
 * without disturbance by other processes. With bad luck there are fewer, filled up with disturbed ones. The choice depends
 * only on the other processes, never on our figures.
 */
export async function inTurns<R extends Round, Name extends string>(
  count: number,
  contestants: Readonly<Record<Name, () => Promise<R>>>,
): Promise<Record<Name, R[]>> {
  const names = Object.keys(contestants) as Name[];
  const quiet: R[][] = [];
  const disturbed: R[][] = [];
  while (quiet.length < count && quiet.length + disturbed.length < count * TRIES) {
    await untilQuiet();
    const turn: R[] = [];
    for (const name of names) turn.push(await contestants[name]());
    (turn.some(isDisturbed) ? disturbed : quiet).push(turn);
  }
  const turns = [...quiet, ...disturbed].slice(0, count);
  const ofEach = names.map((name, nth) => [name, turns.flatMap((turn) => turn.slice(nth, nth + 1))]);
  return Object.fromEntries(ofEach) as Record<Name, R[]>;
}

export function isDisturbed({ otherCores }: Round): boolean {
  return otherCores > DISTURBED_CORES;
}

/** Waits until other processes are idle, with a limit. */
async function untilQuiet(): Promise<void> {
  const deadlineMs = performance.now() + QUIET_LIMIT_MS;
  let busyCores: number;
  do {
    const beforeUs = machineBusyUs();
    await Bun.sleep(QUIET_PROBE_MS);
    busyCores = (machineBusyUs() - beforeUs) / 1000 / QUIET_PROBE_MS;
  } while (busyCores > DISTURBED_CORES && performance.now() < deadlineMs);
}

/** A peak shorter than this can be missed. */
const MEMORY_EVERY_MS = 250;
const SAMPLES_KEPT = 40;

/** Samples the own memory of a process while `work` runs. */
export async function watchMemory(pid: number, work: () => Promise<unknown>) {
  const read = () => rounded(ownMemoryBytes(pid) / 1e6, 1);
  const samples = [read()];
  const sampling = setInterval(() => samples.push(read()), MEMORY_EVERY_MS);
  await work().finally(() => clearInterval(sampling));
  samples.push(read());
  const step = Math.ceil(samples.length / SAMPLES_KEPT);
  const peakMb = Math.max(...samples);
  return {
    peakMb,
    beforePeakAfterMb: [samples[0] ?? Number.NaN, peakMb, samples.at(-1) ?? Number.NaN],
    /** Samples, evenly spread over the time. */
    samplesMb: samples.filter((_, nth) => nth % step === 0),
  };
}

export const cpuUs = (round: Round) => round.cpuPerRequestUs;
export const perSecond = (round: Round) => round.requestsPerSecond;

export function medianOf<R>(rounds: readonly R[], value: (round: R) => number): number {
  return median(rounds.map(value));
}

/** Ratios of the rounds that were measured in the same turn. */
export function ratios<R>(rounds: readonly R[], others: readonly R[], value: (round: R) => number): number[] {
  const divisors = others.map(value);
  return rounds.map((round, nth) => rounded(value(round) / (divisors[nth] ?? Number.NaN), 3));
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}

export function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
