import { type MetricName, METRICS, type Snapshot, type Value } from "./catalogue.ts";

export const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const NAMES = Object.keys(METRICS) as MetricName[];
const COUNTED = NAMES.filter((name) => METRICS[name].type !== "gauge");

const AGGREGATES = { sum: (one: number, other: number) => one + other, max: Math.max, min: Math.min };

/** The text format of Prometheus, with all metrics, even those without a value. */
export function textOf(snapshots: readonly Snapshot[]): string {
  const metrics = NAMES.map((name) => {
    const lines = [`# HELP ${name} ${METRICS[name].help}`, `# TYPE ${name} ${METRICS[name].type}`];
    for (const [series, { value }] of seriesOf(name, snapshots)) lines.push(`${series} ${value}`);
    return `${lines.join("\n")}\n`;
  });
  return metrics.join("\n");
}

/** Adds up all counters and histograms. */
export function sumCounters(snapshots: readonly Snapshot[]): Snapshot {
  return Object.fromEntries(COUNTED.map((name) => [name, [...seriesOf(name, snapshots).values()]]));
}

/** One value for each name with labels, such as `curt_creates_total{outcome="created"}`. */
function seriesOf(name: MetricName, snapshots: readonly Snapshot[]): Map<string, Value> {
  const series = new Map<string, Value>();
  for (const snapshot of snapshots)
    for (const one of snapshot[name] ?? []) {
      // JSON escapes quotes, backslashes and newlines as the format wants it.
      const labels = Object.entries(one.labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
      const key = (one.metricName ?? name) + (labels.length > 0 ? `{${labels.join(",")}}` : "");
      const known = series.get(key);
      const value = known ? AGGREGATES[METRICS[name].aggregate](known.value, one.value) : one.value;
      series.set(key, { ...one, value });
    }
  return series;
}
