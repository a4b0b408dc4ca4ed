import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { type Curt, startCurt } from "./curt.ts";
import { type LatencyResult, type LatencyRound, type LatencyTurn, summarise } from "./latencies.ts";
import { distinctWithoutCase, readLinks, writeLinks } from "./links.ts";
import { create, visitAtPace, visitOnce } from "./load.ts";
import { measure, quietRounds, type Server } from "./measure.ts";
import { startReference } from "./reference.ts";

const LINKS = 10_000;
const MAKING_CONNECTIONS = 64;
const LIMIT_MS = 120_000;
/** An eighth of what a core can. */
const VISITS_PER_SECOND = 10_000;
const CREATES_PER_SECOND = 200;
export const SYNC_DELAYS_MS = [0, 20] as const;
const ROUNDS = 7;
const ROUND_MS = 3000;

/** How long a visitor waits for a hot redirect while links are made, on this disk and on a slow one. */
export async function measureLatency(folder: string): Promise<LatencyResult[]> {
  const results: LatencyResult[] = [];
  for (const syncDelayMs of SYNC_DELAYS_MS) {
    const home = join(folder, `latency-${syncDelayMs}`);
    mkdirSync(home);
    const curt = await startDelayed(join(home, "curt.db"), syncDelayMs);
    if (curt !== undefined) results.push(await measureDelayed(curt, home, syncDelayMs));
  }
  return results;
}

/** Undefined where syncs cannot be slowed down: another system, or a container that forbids to trace. */
async function startDelayed(database: string, syncDelayMs: number): Promise<Curt | undefined> {
  try {
    return await startCurt(database, { syncDelayMs });
  } catch (error) {
    if (syncDelayMs === 0) throw error;
    return undefined;
  }
}

async function measureDelayed(curt: Curt, home: string, syncDelayMs: number): Promise<LatencyResult> {
  try {
    const linksFile = join(home, "links");
    const making = { port: curt.port, connections: MAKING_CONNECTIONS, durationMs: LIMIT_MS };
    await create({ ...making, run: "hot", count: LINKS, linksFile });
    await visitOnce({ ...making, linksFile, status: 302 });
    writeLinks(linksFile, distinctWithoutCase(readLinks(linksFile)));
    const reference = await startReference(home, linksFile);
    let loads = 0;
    const measured = (server: Server, createsPerSecond: number) =>
      measureRound(server, { linksFile, createsPerSecond, run: `pace${loads++}` });
    await measured(curt, CREATES_PER_SECOND);
    const turns = await quietRounds(ROUNDS, async (): Promise<LatencyTurn> => [
      await measured(reference, 0),
      await measured(curt, 0),
      await measured(curt, CREATES_PER_SECOND),
    ]);
    const load = {
      syncDelayMs,
      visitsPerSecond: VISITS_PER_SECOND,
      createsPerSecond: CREATES_PER_SECOND,
    };
    return summarise(load, turns);
  } finally {
    await curt.stop();
  }
}

async function measureRound(
  server: Server,
  load: { linksFile: string; createsPerSecond: number; run: string },
): Promise<LatencyRound> {
  let latencies: Pick<LatencyRound, "visits" | "creates"> | undefined;
  const round = await measure(server, async () => {
    const done = await visitAtPace({
      ...load,
      port: server.port,
      durationMs: ROUND_MS,
      visitsPerSecond: VISITS_PER_SECOND,
    });
    latencies = { visits: done.visits, ...(done.creates !== undefined && { creates: done.creates }) };
    return done;
  });
  if (latencies === undefined) throw new Error("nothing was measured");
  return { ...round, ...latencies };
}
