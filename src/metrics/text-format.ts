import { type MetricName, METRICS, type Reading, type Value } from "./catalogue.ts";

export const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const NAMES = Object.keys(METRICS) as MetricName[];
const COUNTED = NAMES.filter((name) => METRICS[name].type !== "gauge");

const TOGETHER = { sum: (one: number, other: number) => one + other, max: Math.max, min: Math.min };

/** Everything in the text format of Prometheus, also metrics without a value. */
export function textOf(readings: readonly Reading[]): string {
  const metrics = NAMES.map((name) => {
    const lines = [`# HELP ${name} ${METRICS[name].help}`, `# TYPE ${name} ${METRICS[name].type}`];
    for (const [series, { value }] of seriesOf(name, readings)) lines.push(`${series} ${value}`);
    return `${lines.join("\n")}\n`;
  });
  return metrics.join("\n");
}

/** What has been counted, in all of them together. */
export function countedIn(readings: readonly Reading[]): Reading {
  return Object.fromEntries(COUNTED.map((name) => [name, [...seriesOf(name, readings).values()]]));
}

/** One value for each name with labels, such as `curt_creates_total{outcome="created"}`. */
function seriesOf(name: MetricName, readings: readonly Reading[]): Map<string, Value> {
  const series = new Map<string, Value>();
  for (const reading of readings)
    for (const one of reading[name] ?? []) {
      // JSON escapes quotes, backslashes and newlines as the format wants it.
      const labels = Object.entries(one.labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
      const key = (one.metricName ?? name) + (labels.length > 0 ? `{${labels.join(",")}}` : "");
      const known = series.get(key);
      const value = known ? TOGETHER[METRICS[name].together](known.value, one.value) : one.value;
      series.set(key, { ...one, value });
    }
  return series;
}
