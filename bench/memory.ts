import { readdirSync, readFileSync } from "node:fs";

/**
 * Own memory of a process in bytes: RssAnon of proc(5), status. Pages of files that it has mapped are left out,
 * for the system takes them back whenever it needs them.
 */
export function ownMemoryBytes(pid: number): number {
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
}

export function openDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

export interface MemoryUse {
  readonly beforeBytes: number;
  readonly peakBytes: number;
  readonly afterBytes: number;
  /** Some of what was read, evenly spread over the time. */
  readonly samplesBytes: readonly number[];
}

/** A peak shorter than this can be missed. */
export const SAMPLE_MEMORY_MS = 250;
const SAMPLES_KEPT = 40;

/** What a process holds before, while and after `run` works. */
export async function watchMemory(
  pid: number,
  everyMs: number,
  run: () => Promise<unknown>,
): Promise<MemoryUse> {
  const samplesBytes = [ownMemoryBytes(pid)];
  const sampling = setInterval(() => samplesBytes.push(ownMemoryBytes(pid)), everyMs);
  try {
    await run();
  } finally {
    clearInterval(sampling);
  }
  samplesBytes.push(ownMemoryBytes(pid));
  return {
    beforeBytes: samplesBytes[0] ?? Number.NaN,
    peakBytes: Math.max(...samplesBytes),
    afterBytes: samplesBytes.at(-1) ?? Number.NaN,
    samplesBytes: samplesBytes.filter((_, nth) => nth % Math.ceil(samplesBytes.length / SAMPLES_KEPT) === 0),
  };
}
