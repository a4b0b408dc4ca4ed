import { median, type Round, rounded } from "./measure.ts";
import type { Latency } from "./percentiles.ts";

export interface LatencyRound extends Round {
  readonly visits: Latency;
  readonly creates?: Latency;
}

interface LatencyLoad {
  /** How much later each sync of the disk begins than it would. */
  readonly syncDelayMs: number;
  readonly visitsPerSecond: number;
  readonly createsPerSecond: number;
}

export interface LatencyResult extends LatencyLoad {
  /** Medians over the rounds: of the reference, and of Curt without creates and beside them. */
  readonly theirs: Percentiles;
  readonly alone: Percentiles;
  readonly beside: Percentiles;
  /** Beside creates by without them, round by round; the median of those. */
  readonly p50Ratio: number;
  readonly p99Ratio: number;
  readonly p99Ratios: readonly number[];
  readonly createP50Us: number;
  /** Reference, without creates, beside creates, reference… */
  readonly rounds: readonly LatencyRound[];
}

interface Percentiles {
  readonly p50Us: number;
  readonly p99Us: number;
}

/** Reference, Curt without creates, Curt beside creates. */
export type LatencyTurn = readonly [LatencyRound, LatencyRound, LatencyRound];

/** Throws when the syncs were not delayed. */
export function summarise(
  { syncDelayMs, visitsPerSecond, createsPerSecond }: LatencyLoad,
  turns: readonly LatencyTurn[],
): LatencyResult {
  const theirs = turns.map(([reference]) => reference.visits);
  const alone = turns.map(([, without]) => without.visits);
  const beside = turns.map(([, , busy]) => busy.visits);
  const createP50Us = median(turns.map(([, , busy]) => busy.creates?.p50Us ?? Number.NaN));
  if (createP50Us < syncDelayMs * 1000) throw new Error(`syncs were not delayed by ${syncDelayMs} ms`);
  const ratios = (of: (latency: Latency) => number) =>
    turns.map(([, without, busy]) => rounded(of(busy.visits) / of(without.visits), 3));
  const p99Ratios = ratios(({ p99Us }) => p99Us);
  return {
    syncDelayMs,
    visitsPerSecond,
    createsPerSecond,
    theirs: percentiles(theirs),
    alone: percentiles(alone),
    beside: percentiles(beside),
    p50Ratio: median(ratios(({ p50Us }) => p50Us)),
    p99Ratio: median(p99Ratios),
    p99Ratios,
    createP50Us,
    rounds: turns.flat(),
  };
}

function percentiles(latencies: readonly Latency[]): Percentiles {
  return {
    p50Us: median(latencies.map(({ p50Us }) => p50Us)),
    p99Us: median(latencies.map(({ p99Us }) => p99Us)),
  };
}
