/** From 100 µs to 10 s. */
export const SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
];

export interface Histogram {
  /** The upper bounds of its buckets, ascending. */
  readonly bounds: readonly number[];
  /** How many values were in each bucket, and at the end those above the last bound. Not cumulative. */
  readonly counts: readonly number[];
  readonly sum: number;
  observe(value: number): void;
}

/** How often values of about this size occurred. To observe one costs a few additions. */
export function createHistogram(bounds: readonly number[]): Histogram {
  const counts = Array.from({ length: bounds.length + 1 }, () => 0);
  let sum = 0;
  return {
    bounds,
    counts,
    get sum() {
      return sum;
    },
    observe(value) {
      let nth = 0;
      while (nth < bounds.length && value > (bounds[nth] ?? 0)) nth++;
      counts[nth] = (counts[nth] ?? 0) + 1;
      sum += value;
    },
  };
}
