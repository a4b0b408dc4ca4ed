import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { METRICS } from "../../src/metrics/catalogue.ts";
import { ROOT } from "../support/service.ts";

// test/metrics/metrics.test.ts compares METRICS with a running service.

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const declared = Object.entries<{ type: string }>(METRICS);

/** The names that queries may use: a histogram has three series, and no value of its own name. */
const SERIES = declared.flatMap(([name, { type }]) =>
  type === "histogram" ? ["bucket", "sum", "count"].map((part) => `${name}_${part}`) : [name],
);

function namesIn(queries: readonly string[]): Set<string> {
  const bare = queries.map((query) => query.replaceAll(/"[^"]*"|\{\{.*?\}\}/g, ""));
  return new Set(bare.flatMap((query) => query.match(/\b(?:curt|process)_\w+/g) ?? []));
}

interface Panel {
  readonly targets?: readonly { readonly expr: string }[];
}
const { panels } = JSON.parse(read("docs/grafana.json")) as { panels: readonly Panel[] };
const shownQueries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const { groups } = Bun.YAML.parse(read("docs/alerts.yml")) as {
  groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
};
const alerts = groups.flatMap(({ rules }) => rules);

test("docs/monitoring.md lists every metric with advice, and no other", () => {
  const items = read("docs/monitoring.md").matchAll(/^- `((?:curt|process)_\w+)`(?: \([^)]+\))?: \S/gm);
  expect([...items].map(([, name]) => name)).toEqual(declared.map(([name]) => name));
});

test("the dashboard queries only existing metrics, and shows all of them", () => {
  const names = namesIn(shownQueries);
  expect([...names].filter((name) => !SERIES.includes(name))).toEqual([]);
  const missing = declared
    .map(([name]) => name)
    .filter((name) => ![...names].some((shownName) => shownName.startsWith(name)));
  expect(missing).toEqual([]);
});

test("the alerts query only existing metrics, and have distinct names", () => {
  expect(alerts.length).toBeGreaterThan(0);
  expect([...namesIn(alerts.map(({ expr }) => expr))].filter((name) => !SERIES.includes(name))).toEqual([]);
  expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
});

test("queries use only labels and values that exist", () => {
  const sources =
    read("src/server/metrics-snapshot.ts") +
    read("src/metrics/process-group.ts") +
    read("src/metrics/system.ts");
  const known = sources + read("src/store/shared/commits.ts") + read("src/redirect/redirect.ts");
  const queries = [...shownQueries, ...alerts.map(({ expr }) => expr)].join("\n");
  for (const [, label = "", value = ""] of queries.matchAll(/(\w+)!?="([^"]+)"/g))
    if (label !== "job" && label !== "status") expect([label, known.includes(value)]).toEqual([label, true]);
});
