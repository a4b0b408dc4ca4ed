import { join } from "node:path";

import { type Figures, isReached } from "./aims.ts";
import { generated } from "./load.ts";
import { measure, type Round, rounded } from "./measure.ts";
import { openDescriptors, ownMemoryBytes } from "./process.ts";
import type { Bench, Result } from "./report.ts";
import { makeLinks, startCurt } from "./servers.ts";

/** Fewer minutes give too few points for a line. */
const MIN_MINUTES = 5;
const MAX_MINUTES = 24 * 60;
const MINUTE_MS = 60_000;
/** More than Curt's memory holds, so that it is full and evicts links. */
const LINKS = 300_000;
/** A sample is taken after each load. The next load has new connections. */
const STINT_MS = 10_000;
/** Memory fills during this share of the time, which doesn't count. */
const WARM_UP = 1 / 3;
const MIB = 1024 * 1024;
export const DESCRIPTOR_RANGE_LIMIT = 8;
/** Time for the server to close connections after its clients. A busy machine takes longer. */
const SETTLE_MS = 200;
const SETTLE_LIMIT_MS = 5000;

export interface Sample {
  readonly atMs: number;
  readonly memoryMib: number;
  readonly descriptors: number;
}

/** Checks that Curt's memory stays flat under mixed requests. Exit code 1 if not. */
export async function measureSoak({ folder, progress, minutes }: Bench): Promise<Result> {
  requireMinutes(minutes);
  progress(`soak, ${minutes} minutes`);
  const durationMs = minutes * MINUTE_MS;
  const { samples, rounds, requests } = await soak(folder, durationMs, progress);
  const settled = samples.filter(({ atMs }) => atMs >= durationMs * WARM_UP);
  // Between two collections, memory rises and falls by more than a relevant leak.
  const riseMib = rounded(rise(lowestAfterWarmUp(samples, durationMs, MINUTE_MS)), 1);
  const rangeMib = rounded(range(settled.map(({ memoryMib }) => memoryMib)), 1);
  const descriptors = range(settled.map((sample) => sample.descriptors));
  const figures: Figures = {
    "soak: rise of own memory, MiB": { Curt: riseMib },
    "soak: max − min of own memory, MiB": { Curt: rangeMib },
  };
  const isFlat =
    isReached("soak: rise of own memory, MiB", figures) === true &&
    isReached("soak: max − min of own memory, MiB", figures) === true &&
    descriptors <= DESCRIPTOR_RANGE_LIMIT;
  if (!isFlat) process.exitCode = 1;
  return {
    rows: [
      {
        [`soak, ${minutes} minutes`]: isFlat ? "flat" : "not flat",
        requests,
        "rise of own memory, MiB": riseMib,
        "max − min, MiB": rangeMib,
        "descriptors, max − min": descriptors,
      },
    ],
    rounds: { soak: { Curt: rounds } },
    figures,
    samplesMb: { soak: samples.map(({ memoryMib }) => rounded((memoryMib * MIB) / 1e6, 1)) },
  };
}

/** Throws RangeError. */
export function requireMinutes(minutes: number): void {
  if (!(minutes >= MIN_MINUTES && minutes <= MAX_MINUTES))
    throw new RangeError(
      `The minutes must be a number from ${MIN_MINUTES} to ${MAX_MINUTES}, not ${minutes}.`,
    );
}

async function soak(folder: string, durationMs: number, progress: Bench["progress"]) {
  const curt = await startCurt(join(folder, "soak.db"));
  const idleDescriptors = openDescriptors(curt.pid);
  const linksFile = join(folder, "soak-links");
  await makeLinks(curt, LINKS, linksFile);
  const samples: Sample[] = [];
  const rounds: Round[] = [];
  const startMs = performance.now();
  let requests = 0;
  let lastMinute = 0;
  for (let atMs = 0; atMs < durationMs;) {
    const stintMs = Math.ceil(Math.min(STINT_MS, durationMs - atMs));
    const round = await measure(curt, generated(stintMs, { kind: "mixed", linksFile }));
    rounds.push(round);
    requests += round.requests;
    await settle(curt.pid, idleDescriptors);
    atMs = performance.now() - startMs;
    const memoryMib = ownMemoryBytes(curt.pid) / MIB;
    const descriptors = openDescriptors(curt.pid);
    samples.push({ atMs, memoryMib, descriptors });
    const minutesOver = Math.floor(atMs / MINUTE_MS);
    if (minutesOver === lastMinute) continue;
    lastMinute = minutesOver;
    progress(
      `${minutesOver} min: ${requests.toLocaleString("en")} requests, ${memoryMib.toFixed(1)} MiB, ${descriptors} descriptors`,
    );
  }
  await curt.stop();
  return { samples, rounds, requests };
}

async function settle(pid: number, idleDescriptors: number): Promise<void> {
  const deadlineMs = performance.now() + SETTLE_LIMIT_MS;
  do await Bun.sleep(SETTLE_MS);
  while (openDescriptors(pid) > idleDescriptors + DESCRIPTOR_RANGE_LIMIT && performance.now() < deadlineMs);
}

/** The values of a sample that should stay flat. */
type Flat = "memoryMib" | "descriptors";

/**
 * The samples after the warm-up, reduced to the lowest one in each span of about this time: the memory without the garbage of
 * that span.
 */
export function lowestAfterWarmUp(
  samples: readonly Sample[],
  durationMs: number,
  spanMs: number,
  what: Flat = "memoryMib",
): Sample[] {
  const fromMs = durationMs * WARM_UP;
  const spans = Math.max(2, Math.floor((durationMs - fromMs) / spanMs));
  // The last sample comes when the time is over. Alone, it would be the lowest of a span of its own.
  const spanOf = ({ atMs }: Sample) =>
    Math.min(Math.floor(((atMs - fromMs) / (durationMs - fromMs)) * spans), spans - 1);
  const settled = samples.filter(({ atMs }) => atMs >= fromMs);
  return [...Map.groupBy(settled, spanOf).values()].map((ofSpan) =>
    ofSpan.reduce((lowest, sample) => (sample[what] < lowest[what] ? sample : lowest)),
  );
}

/** The rise of the least-squares line from the first sample to the last. */
export function rise(samples: readonly Sample[], what: Flat = "memoryMib"): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const meanMs = mean(samples.map(({ atMs }) => atMs));
  const meanValue = mean(samples.map((sample) => sample[what]));
  const together = mean(samples.map((sample) => (sample.atMs - meanMs) * (sample[what] - meanValue)));
  const squares = mean(samples.map(({ atMs }) => (atMs - meanMs) ** 2));
  return (together / squares) * range(samples.map(({ atMs }) => atMs));
}

function range(values: readonly number[]): number {
  return Math.max(...values) - Math.min(...values);
}
