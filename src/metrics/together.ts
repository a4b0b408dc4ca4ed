import Registry from "prom-client/lib/cluster.js";

import { type MetricName, METRICS, type Reading } from "./catalogue.ts";

const NAMES = Object.keys(METRICS) as MetricName[];

/** As prom-client exchanges metrics between processes. */
function exchanged(reading: Reading, names: readonly MetricName[]) {
  return names.map((name) => {
    const { type, help, together } = METRICS[name];
    return { name, help, type, aggregator: together, values: reading[name] ?? [] };
  });
}

function aggregate(readings: readonly Reading[], names = NAMES) {
  return Registry.aggregate(readings.map((reading) => exchanged(reading, names)));
}

/** Everything as text (Prometheus text format, version 0.0.4). */
export function textOf(readings: readonly Reading[]): Promise<string> {
  // With an empty one, there is a line for every metric, whatever processes answer.
  return aggregate([{}, ...readings]).metrics();
}

const COUNTED = NAMES.filter((name) => METRICS[name].type !== "gauge");

/** What has been counted, in both together. */
export function countedIn(readings: readonly Reading[]): Reading {
  const metrics = aggregate(readings, COUNTED).getMetricsAsArray() as unknown as {
    name: MetricName;
    values: Reading[MetricName];
  }[];
  return Object.fromEntries(metrics.map(({ name, values }) => [name, values]));
}

export const CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;
