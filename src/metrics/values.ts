import type { Histogram } from "../lib/histogram.ts";
import type { MetricName, Value } from "./catalogue.ts";

type Labels = Value["labels"];

const NO_LABELS: Labels = {};

export function one(value: number, labels = NO_LABELS): Value {
  return { value, labels };
}

/** One value for each key of an object, which becomes the label. */
export function each(label: string, values: Readonly<Record<string, number>>): Value[] {
  return Object.entries(values).map(([name, value]) => one(value, { [label]: name }));
}

/** The buckets of Prometheus are cumulative. */
export function histogramValues(
  name: MetricName,
  { bounds, counts, sum }: Histogram,
  labels = NO_LABELS,
): Value[] {
  let count = 0;
  const buckets = counts.map((counted, nth) => {
    count += counted;
    const le = nth < bounds.length ? String(bounds[nth]) : "+Inf";
    return { value: count, labels: { le, ...labels }, metricName: `${name}_bucket` };
  });
  return [
    ...buckets,
    { value: sum, labels, metricName: `${name}_sum` },
    { value: count, labels, metricName: `${name}_count` },
  ];
}
