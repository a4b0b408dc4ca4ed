import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { generated, visitsOnce } from "./load.ts";
import { inTurns, measure, median, medianOf, ratios, type Round } from "./measure.ts";
import type { Bench, Result, Row, Turns } from "./report.ts";
import { type Stage, startCurt, startStage } from "./servers.ts";

const LINKS = 10_000;
/** Enough for each create to wait for two syncs of 20 ms and more. */
const CONNECTIONS = 32;
/** An eighth of a core's capacity. */
const VISITS_PER_SECOND = 10_000;
const CREATES_PER_SECOND = 200;
const SYNC_DELAYS_MS = [0, 20];
const ROUNDS = 7;
const ROUND_MS = 3000;

/** Latency of hot redirects beside creates, on this disk and on a slow one. */
export async function measureLatency({ folder, progress }: Bench): Promise<Result> {
  const rows: Row[] = [];
  const p99s: number[] = [];
  const rounds: Record<string, Turns> = {};
  const doubts: string[] = [];
  for (const syncDelayMs of SYNC_DELAYS_MS) {
    const name = syncDelayMs === 0 ? "this disk" : `syncs ${syncDelayMs} ms slower`;
    progress(`latency, ${name}`);
    const home = join(folder, `latency-${syncDelayMs}`);
    mkdirSync(home);
    const curt = await startCurt(join(home, "curt.db"), { syncDelayMs }).catch((error: unknown) => {
      if (syncDelayMs === 0) throw error;
      // Another system, or a container that forbids tracing.
      doubts.push(`The case "${name}" is missing: syncs could not be slowed down here. ${String(error)}`);
    });
    if (curt === undefined) continue;
    const stage = await startStage(curt, LINKS, home);
    const turns = await latencies(stage);
    for (const server of [stage.curt, stage.reference]) await server.stop();
    rounds[name] = turns;
    rows.push(summary(name, turns));
    p99s.push(median(ratios(turns.alone, turns.reference, p99Us)));
    if (!(medianOf(turns.beside, createUs) >= syncDelayMs * 1000))
      throw new Error(`syncs were not delayed by ${syncDelayMs} ms`);
  }
  const [onThisDisk = Number.NaN] = p99s;
  return { rows, rounds, doubts, figures: { "p99 at 10,000 redirects/s, × nginx": { Curt: onThisDisk } } };
}

async function latencies({ curt, reference, linksFile }: Stage) {
  await visitsOnce(linksFile)(curt);
  const connections = CONNECTIONS;
  const visiting = {
    kind: "visits",
    linksFile,
    status: 302,
    perSecond: VISITS_PER_SECOND,
    connections,
  } as const;
  const creating = { kind: "creates", perSecond: CREATES_PER_SECOND, connections } as const;
  const visits = generated(ROUND_MS, visiting);
  const both = generated(ROUND_MS, visiting, creating);
  // Warm-up.
  await both(curt);
  return inTurns(ROUNDS, {
    reference: () => measure(reference, visits),
    alone: () => measure(curt, visits),
    beside: () => measure(curt, both),
  });
}

function summary(name: string, turns: Record<"reference" | "alone" | "beside", Round[]>) {
  const p50Us = ({ latencies: [visits] }: Round) => visits?.p50Us ?? Number.NaN;
  const { reference, alone, beside } = turns;
  const theirs = reference[0]?.server ?? "";
  const each = ratios(beside, alone, p99Us);
  return {
    [`hot redirects, ${VISITS_PER_SECOND}/s, µs`]: name,
    [`${theirs}: p50`]: medianOf(reference, p50Us),
    [`${theirs}: p99`]: medianOf(reference, p99Us),
    "alone: p50": medianOf(alone, p50Us),
    "alone: p99": medianOf(alone, p99Us),
    [`alone to ${theirs}: p99`]: median(ratios(alone, reference, p99Us)),
    [`beside ${CREATES_PER_SECOND} creates/s: p50`]: medianOf(beside, p50Us),
    "beside: p99": medianOf(beside, p99Us),
    "ratio: p50": median(ratios(beside, alone, p50Us)),
    "ratio: p99": median(each),
    "p99 of each round": each,
    "create: p50": medianOf(beside, createUs),
  };
}

function p99Us({ latencies: [visits] }: Round): number {
  return visits?.p99Us ?? Number.NaN;
}

function createUs({ latencies: [, creates] }: Round): number {
  return creates?.p50Us ?? Number.NaN;
}
