import { visit, visitOnce } from "./load.ts";
import { measure, median, quietRounds, type Round, rounded, type Server } from "./measure.ts";
import { type MemoryUse, SAMPLE_MEMORY_MS, watchMemory } from "./memory.ts";

const CONNECTIONS = 64;
const ROUNDS = 7;
const ROUND_MS = 2000;
/** Long enough for Curt's memory of links to be full. */
const WARM_UP_MS = 6000;
const ONCE_LIMIT_MS = 60_000;

/** Visits of links that are not in Curt's memory. Shares and ratios are medians over the rounds. */
export interface ColdResult {
  readonly requestsPerSecond: number;
  readonly cpuPerRequestUs: number;
  /** CPU per request by the reference's, which has 100,000 links in its memory. */
  readonly ratio: number;
  /** Requests per second by those of Curt's hot redirect, measured in turns with them. */
  readonly shareOfHotRate: number;
  /** CPU per request by the hot redirect's. */
  readonly hotRatio: number;
  readonly hotRequestsPerSecond: number;
  readonly memory: MemoryUse;
  /** Cold, hot, reference, cold… */
  readonly rounds: readonly Round[];
}

interface Servers {
  readonly cold: Server;
  readonly hot: Server;
  readonly reference: Server;
}

export interface ColdFiles {
  /** So many links that none comes again while Curt remembers it, and how many. */
  readonly sample: string;
  readonly sampled: number;
  /** Some more, with the targets that they must have. */
  readonly checked: string;
  /** Links that `hot` and `reference` know. */
  readonly hot: string;
}

/** Cold, hot, reference, cold, hot, reference…: what slows the machine down for a while slows all of them. */
export async function measureCold({ cold, hot, reference }: Servers, files: ColdFiles): Promise<ColdResult> {
  const load = { connections: CONNECTIONS, status: 302 };
  const once = { ...load, durationMs: ONCE_LIMIT_MS };
  let visited = 0;
  // Each time it goes on where it stopped.
  const visitCold = async (durationMs: number) => {
    const from = visited % files.sampled;
    const done = await visit({ ...load, port: cold.port, durationMs, linksFile: files.sample, from });
    visited += done.requests;
    return done;
  };
  const visitHot = ({ port }: Server) => visit({ ...load, port, durationMs: ROUND_MS, linksFile: files.hot });

  await visitOnce({ ...once, port: cold.port, linksFile: files.checked });
  for (const { port } of [hot, reference]) await visitOnce({ ...once, port, linksFile: files.hot });
  let turns: (readonly [Round, Round, Round])[] = [];
  const memory = await watchMemory(cold.pid, SAMPLE_MEMORY_MS, async () => {
    await visitCold(WARM_UP_MS);
    turns = await quietRounds(
      ROUNDS,
      async () =>
        [
          await measure(cold, () => visitCold(ROUND_MS)),
          await measure(hot, () => visitHot(hot)),
          await measure(reference, () => visitHot(reference)),
        ] as const,
    );
  });
  return { ...summary(turns), memory };
}

function summary(turns: readonly (readonly [Round, Round, Round])[]): Omit<ColdResult, "memory"> {
  const cold = turns.map(([round]) => round);
  const ratios = (key: "cpuPerRequestUs" | "requestsPerSecond", by: 1 | 2) =>
    rounded(median(turns.map((turn) => turn[0][key] / turn[by][key])), 3);
  return {
    requestsPerSecond: median(cold.map((round) => round.requestsPerSecond)),
    cpuPerRequestUs: median(cold.map((round) => round.cpuPerRequestUs)),
    ratio: ratios("cpuPerRequestUs", 2),
    shareOfHotRate: ratios("requestsPerSecond", 1),
    hotRatio: ratios("cpuPerRequestUs", 1),
    hotRequestsPerSecond: median(turns.map(([, hot]) => hot.requestsPerSecond)),
    rounds: turns.flat(),
  };
}
