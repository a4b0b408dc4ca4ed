import { join } from "node:path";

import { type ColdFiles, type ColdResult, measureCold } from "./cold.ts";
import { startCurt } from "./curt.ts";
import { type BenchLink, shuffled, writeLinks } from "./links.ts";
import { miss } from "./load.ts";
import { bytesPerLink, prepareManyLinks, sampleLinks } from "./many.ts";
import { rounded, type Server } from "./measure.ts";
import { type MemoryUse, SAMPLE_MEMORY_MS, watchMemory } from "./memory.ts";
import { measureStarts, type StartsResult } from "./starts.ts";

const LINKS = 10_000_000;
/** One of so many is visited: many more than Curt's memory holds, so that none comes again while it is there. */
const SAMPLED = 5;
const CHECKED_LINKS = 100_000;
const CONNECTIONS = 64;
const MISSES = 10_000_000;
const MISSES_BEFORE = 100_000;
const MISSES_LIMIT_MS = 900_000;

export interface ScaleResult {
  readonly links: number;
  readonly bytesPerLink: number;
  readonly starts: StartsResult;
  readonly visits: ColdResult;
  readonly misses: MissesResult;
}

interface MissesResult {
  readonly count: number;
  readonly requestsPerSecond: number;
  readonly memory: MemoryUse;
}

/** `hot` and `reference` know `hotLinks`; the database of many links is kept in `cache` for the next run. */
export async function measureScale(
  folder: string,
  cache: string,
  { hot, reference, hotLinks }: { hot: Server; reference: Server; hotLinks: readonly BenchLink[] },
  progress: (text: string) => void,
): Promise<ScaleResult> {
  progress(`making ${LINKS} links, or copying them`);
  const database = await prepareManyLinks(folder, cache, LINKS);
  const sample = sampleLinks(database, SAMPLED);
  const files = writeFiles(folder, sample, hotLinks);
  progress("measuring: starts");
  const starts = await measureStarts(database, sample[0] ?? ["", ""]);
  progress("measuring: cold redirect");
  const cold = await startCurt(database);
  const visits = await measureCold({ cold, hot, reference }, files);
  await cold.stop();
  progress(`measuring: memory under ${MISSES} misses`);
  const misses = await measureMisses(hot);
  return { links: LINKS, bytesPerLink: rounded(bytesPerLink(database, LINKS), 1), starts, visits, misses };
}

function writeFiles(folder: string, sample: readonly BenchLink[], hotLinks: readonly BenchLink[]): ColdFiles {
  const path = (name: string) => join(folder, `scale-${name}`);
  const files = {
    sample: path("sample"),
    sampled: sample.length,
    checked: path("checked"),
    hot: path("hot"),
  };
  writeLinks(
    files.sample,
    sample.map(([code]) => [code, ""]),
  );
  writeLinks(files.checked, sample.slice(-CHECKED_LINKS));
  writeLinks(files.hot, shuffled(hotLinks));
  return files;
}

/** On the small file, which answers them twice as fast: what is hunted is what the process remembers. */
async function measureMisses({ port, pid }: Server): Promise<MissesResult> {
  const load = { port, connections: CONNECTIONS, durationMs: MISSES_LIMIT_MS };
  // What the first misses need once, such as a rendered page, is there before.
  await miss({ ...load, count: MISSES_BEFORE });
  let requestsPerSecond = 0;
  const memory = await watchMemory(pid, SAMPLE_MEMORY_MS, async () => {
    const { requests, durationMs } = await miss({ ...load, count: MISSES });
    if (requests < MISSES) throw new Error(`only ${requests} of ${MISSES} misses in time`);
    requestsPerSecond = rounded((requests / durationMs) * 1000, 1);
  });
  return { count: MISSES, requestsPerSecond, memory };
}
