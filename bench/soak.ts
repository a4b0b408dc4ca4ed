// `bun bench/soak.ts [minutes=20]`: does Curt's memory stay flat under a bit of everything? See README.md here.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { startCurt } from "./curt.ts";
import { type Flatness, flatness, floors, type Sample } from "./flatness.ts";
import { create, mix } from "./load.ts";
import type { Server } from "./measure.ts";
import { openDescriptors, ownMemoryBytes } from "./memory.ts";
import { stopAll } from "./processes.ts";

const DEFAULT_MINUTES = 20;
/** Fewer give too few points for a line. */
const MIN_MINUTES = 5;
const MAX_MINUTES = 24 * 60;
const MINUTE_MS = 60_000;
/** More than Curt's memory holds, so that it is full and forgets. */
const LINKS = 300_000;
const MAKING_LIMIT_MS = 600_000;
const CONNECTIONS = 64;
/** A sample is taken after each; the next one comes with new connections. */
const STINT_MS = 10_000;
/** Before this share of the time is over, memory fills; it does not count. */
const WARM_UP = 1 / 3;
const MIB = 1024 * 1024;
/** What the line through the floors of the minutes may rise by. */
const RISE_LIMIT_MIB = 24;
/** Curt forgets links by the half of its memory of them, 64 MiB; twice that is for the garbage collector's delay. */
const RANGE_LIMIT_MIB = 128;
const DESCRIPTOR_RANGE_LIMIT = 8;
/** For the server to close the connections that its clients have closed. */
const SETTLE_MS = 200;

interface Samples {
  readonly memoryMib: Sample[];
  readonly descriptors: Sample[];
}

async function soak(folder: string, durationMs: number): Promise<Samples> {
  const curt = await startCurt(join(folder, "curt.db"));
  const linksFile = join(folder, "links");
  const load = { port: curt.port, connections: CONNECTIONS };
  await create({ ...load, durationMs: MAKING_LIMIT_MS, run: "links", count: LINKS, linksFile });
  const samples: Samples = { memoryMib: [], descriptors: [] };
  const startMs = performance.now();
  let requests = 0;
  let toldMinutes = 0;
  for (let stint = 0, atMs = 0; atMs < durationMs; stint++) {
    const stintMs = Math.ceil(Math.min(STINT_MS, durationMs - atMs));
    requests += (await mix({ ...load, durationMs: stintMs, linksFile, run: `stint${stint}` })).requests;
    await Bun.sleep(SETTLE_MS);
    atMs = performance.now() - startMs;
    take(samples, curt, atMs);
    const minutesOver = Math.floor(atMs / MINUTE_MS);
    if (minutesOver === toldMinutes) continue;
    toldMinutes = minutesOver;
    console.log(line(atMs, requests, samples));
  }
  return samples;
}

function take({ memoryMib, descriptors }: Samples, { pid }: Server, atMs: number): void {
  memoryMib.push({ atMs, value: ownMemoryBytes(pid) / MIB });
  descriptors.push({ atMs, value: openDescriptors(pid) });
}

function line(atMs: number, requests: number, { memoryMib, descriptors }: Samples): string {
  const memory = memoryMib.at(-1)?.value.toFixed(1);
  return `${Math.floor(atMs / MINUTE_MS)} min: ${requests.toLocaleString("en")} requests, ${memory} MiB, ${descriptors.at(-1)?.value} descriptors`;
}

/** Prints what came out; whether it is flat. */
function judge({ memoryMib, descriptors }: Samples, durationMs: number): boolean {
  const settled = (samples: readonly Sample[]) => samples.filter(({ atMs }) => atMs >= durationMs * WARM_UP);
  // Between two collections memory rises and falls by more than a leak that is worth finding.
  const { perHour, rise } = flatness(floors(settled(memoryMib), MINUTE_MS));
  const memory = { ...flatness(settled(memoryMib)), perHour, rise };
  const open = flatness(settled(descriptors));
  const isFlat =
    memory.rise <= RISE_LIMIT_MIB && memory.range <= RANGE_LIMIT_MIB && open.range <= DESCRIPTOR_RANGE_LIMIT;
  console.log(`own memory: ${described(memory, "MiB")} (limits: ${RISE_LIMIT_MIB} and ${RANGE_LIMIT_MIB})`);
  console.log(`descriptors: ${described(open, "")} (limit of max − min: ${DESCRIPTOR_RANGE_LIMIT})`);
  console.log(isFlat ? "Flat." : "NOT flat.");
  return isFlat;
}

function described({ perHour, rise, range }: Flatness, unit: string): string {
  return `${perHour.toFixed(1)} ${unit}/h, a rise of ${rise.toFixed(1)} ${unit}, max − min ${range.toFixed(1)} ${unit}`;
}

const minutes = Number(process.argv[2] ?? DEFAULT_MINUTES);
if (!(minutes >= MIN_MINUTES && minutes <= MAX_MINUTES)) {
  console.error(
    `The minutes must be a number from ${MIN_MINUTES} to ${MAX_MINUTES}, not ${process.argv[2]}.`,
  );
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), "curt-soak-"));

async function cleanUp(): Promise<void> {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => void cleanUp().finally(() => process.exit(1)));
}
try {
  const durationMs = minutes * MINUTE_MS;
  if (!judge(await soak(folder, durationMs), durationMs)) process.exitCode = 1;
} finally {
  await cleanUp();
}
