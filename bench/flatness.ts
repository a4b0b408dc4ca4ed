/** A value that was read at a time. */
export interface Sample {
  readonly atMs: number;
  readonly value: number;
}

export interface Flatness {
  /** Of the straight line with the least squares through the samples. */
  readonly perHour: number;
  /** How much that line rises from the first sample to the last. */
  readonly rise: number;
  /** Between the smallest and the largest value. */
  readonly range: number;
}

/** The smallest value of each stretch of time: what is left when the garbage of that time is gone. */
export function floors(samples: readonly Sample[], stretchMs: number): Sample[] {
  const lowest = new Map<number, Sample>();
  for (const sample of samples) {
    const stretch = Math.floor(sample.atMs / stretchMs);
    const known = lowest.get(stretch);
    if (known === undefined || sample.value < known.value) lowest.set(stretch, sample);
  }
  return [...lowest.values()];
}

export function flatness(samples: readonly Sample[]): Flatness {
  const meanMs = mean(samples.map(({ atMs }) => atMs));
  const meanValue = mean(samples.map(({ value }) => value));
  let together = 0;
  let squares = 0;
  for (const { atMs, value } of samples) {
    together += (atMs - meanMs) * (value - meanValue);
    squares += (atMs - meanMs) ** 2;
  }
  const perMs = together / squares;
  const values = samples.map(({ value }) => value);
  return {
    perHour: perMs * 3_600_000,
    rise: perMs * ((samples.at(-1)?.atMs ?? Number.NaN) - (samples[0]?.atMs ?? Number.NaN)),
    range: Math.max(...values) - Math.min(...values),
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
