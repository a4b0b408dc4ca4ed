// `bun bench/soak.ts [minutes=20]`: does Curt's memory stay flat under a bit of everything? See README.md here.
import { join } from "node:path";

import { generated } from "./load.ts";
import { inTemporaryFolder, openDescriptors, ownMemoryBytes } from "./process.ts";
import { makeLinks, startCurt } from "./servers.ts";

const DEFAULT_MINUTES = 20;
/** Fewer give too few points for a line. */
const MIN_MINUTES = 5;
const MAX_MINUTES = 24 * 60;
const MINUTE_MS = 60_000;
/** More than Curt's memory holds, so that it is full and forgets. */
const LINKS = 300_000;
/** A sample is taken after each; the next one comes with new connections. */
const STINT_MS = 10_000;
/** Before this share of the time is over, memory fills; it does not count. */
const WARM_UP = 1 / 3;
const MIB = 1024 * 1024;
/** What the line through the lowest samples of the minutes may rise by. */
const RISE_LIMIT_MIB = 24;
/** Curt forgets links by the half of its memory of them, 64 MiB; twice that is for the garbage collector's delay. */
const RANGE_LIMIT_MIB = 128;
const DESCRIPTOR_RANGE_LIMIT = 8;
/** For the server to close the connections that its clients have closed. */
const SETTLE_MS = 200;

interface Sample {
  readonly atMs: number;
  readonly memoryMib: number;
  readonly descriptors: number;
}

async function soak(folder: string, durationMs: number): Promise<Sample[]> {
  const curt = await startCurt(join(folder, "curt.db"));
  const linksFile = join(folder, "links");
  await makeLinks(curt, LINKS, linksFile);
  const samples: Sample[] = [];
  const startMs = performance.now();
  let requests = 0;
  let toldMinutes = 0;
  for (let atMs = 0; atMs < durationMs;) {
    const stintMs = Math.ceil(Math.min(STINT_MS, durationMs - atMs));
    requests += (await generated(stintMs, { kind: "mixed", linksFile })(curt)).requests;
    await Bun.sleep(SETTLE_MS);
    atMs = performance.now() - startMs;
    const memoryMib = ownMemoryBytes(curt.pid) / MIB;
    const descriptors = openDescriptors(curt.pid);
    samples.push({ atMs, memoryMib, descriptors });
    const minutesOver = Math.floor(atMs / MINUTE_MS);
    if (minutesOver === toldMinutes) continue;
    toldMinutes = minutesOver;
    console.log(
      `${minutesOver} min: ${requests.toLocaleString("en")} requests, ${memoryMib.toFixed(1)} MiB, ${descriptors} descriptors`,
    );
  }
  return samples;
}

/** Prints what came out; whether it is flat. */
function judge(samples: readonly Sample[], durationMs: number): boolean {
  const settled = samples.filter(({ atMs }) => atMs >= durationMs * WARM_UP);
  // Between two collections memory rises and falls by more than a leak that is worth finding.
  const riseMib = rise(lowestOfMinutes(settled));
  const rangeMib = range(settled.map(({ memoryMib }) => memoryMib));
  const descriptors = range(settled.map((sample) => sample.descriptors));
  const isFlat =
    riseMib <= RISE_LIMIT_MIB && rangeMib <= RANGE_LIMIT_MIB && descriptors <= DESCRIPTOR_RANGE_LIMIT;
  console.log(`own memory: a rise of ${riseMib.toFixed(1)} MiB (limit: ${RISE_LIMIT_MIB})`);
  console.log(`own memory: max − min ${rangeMib.toFixed(1)} MiB (limit: ${RANGE_LIMIT_MIB})`);
  console.log(`descriptors: max − min ${descriptors} (limit: ${DESCRIPTOR_RANGE_LIMIT})`);
  console.log(isFlat ? "Flat." : "NOT flat.");
  return isFlat;
}

/** The smallest memory of each minute: what is left when the garbage of that minute is gone. */
function lowestOfMinutes(samples: readonly Sample[]): Sample[] {
  const minutes = Map.groupBy(samples, ({ atMs }) => Math.floor(atMs / MINUTE_MS));
  return [...minutes.values()].map((ofMinute) =>
    ofMinute.reduce((lowest, sample) => (sample.memoryMib < lowest.memoryMib ? sample : lowest)),
  );
}

/** How much the straight line with the least squares rises from the first sample to the last, in MiB. */
function rise(samples: readonly Sample[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const meanMs = mean(samples.map(({ atMs }) => atMs));
  const meanMib = mean(samples.map(({ memoryMib }) => memoryMib));
  const together = mean(samples.map(({ atMs, memoryMib }) => (atMs - meanMs) * (memoryMib - meanMib)));
  const squares = mean(samples.map(({ atMs }) => (atMs - meanMs) ** 2));
  return (together / squares) * range(samples.map(({ atMs }) => atMs));
}

function range(values: readonly number[]): number {
  return Math.max(...values) - Math.min(...values);
}

const minutes = Number(process.argv[2] ?? DEFAULT_MINUTES);
if (!(minutes >= MIN_MINUTES && minutes <= MAX_MINUTES)) {
  console.error(
    `The minutes must be a number from ${MIN_MINUTES} to ${MAX_MINUTES}, not ${process.argv[2]}.`,
  );
  process.exit(2);
}
await inTemporaryFolder(async (folder) => {
  const durationMs = minutes * MINUTE_MS;
  if (!judge(await soak(folder, durationMs), durationMs)) process.exitCode = 1;
});
