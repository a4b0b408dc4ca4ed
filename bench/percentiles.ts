/** Of one stream of requests, from when each was due until its answer was there. */
export interface Latency {
  readonly requests: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly maxUs: number;
  /** How late requests left although a connection was free: the generator's own share, at its 99th percentile. */
  readonly ownP99Us: number;
}

export function toLatency(latenciesMs: readonly number[], lateMs: readonly number[]): Latency {
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  return {
    requests: sorted.length,
    p50Us: microseconds(percentile(sorted, 0.5)),
    p99Us: microseconds(percentile(sorted, 0.99)),
    maxUs: microseconds(sorted.at(-1)),
    ownP99Us: microseconds(
      percentile(
        lateMs.toSorted((a, b) => a - b),
        0.99,
      ),
    ),
  };
}

/** By nearest rank. */
function percentile(sorted: readonly number[], share: number): number | undefined {
  return sorted[Math.ceil(sorted.length * share) - 1];
}

function microseconds(ms = Number.NaN): number {
  return Math.round(ms * 1000);
}
