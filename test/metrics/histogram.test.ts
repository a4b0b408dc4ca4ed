import { expect, test } from "bun:test";

import { createHistogram } from "../../src/lib/histogram.ts";
import { each, histogramValues, one } from "../../src/metrics/catalogue.ts";
import { sumCounters, textOf } from "../../src/metrics/text-format.ts";

test("a histogram counts each value in the first bucket that fits, and reports buckets cumulatively", () => {
  const histogram = createHistogram([1, 5]);
  for (const value of [0, 1, 1.5, 5, 6, 100]) histogram.observe(value);
  expect(histogram.counts).toEqual([2, 2, 2]);
  const values = histogramValues("curt_commit_items", histogram, { what: "links" });
  expect(values.map(({ metricName, labels, value }) => [metricName, labels, value])).toEqual([
    ["curt_commit_items_bucket", { le: "1", what: "links" }, 2],
    ["curt_commit_items_bucket", { le: "5", what: "links" }, 4],
    ["curt_commit_items_bucket", { le: "+Inf", what: "links" }, 6],
    ["curt_commit_items_sum", { what: "links" }, 113.5],
    ["curt_commit_items_count", { what: "links" }, 6],
  ]);
});

test("the values of several processes become one series per label, and only counters outlive a process", () => {
  const processOf = (links: number, isUp: number) => ({
    curt_build_info: [one(1, { version: 'a "quoted" \\\n' })],
    curt_creates_total: each("outcome", { created: links }),
    curt_store_up: [one(isUp)],
    curt_links: [one(links)],
  });
  const readings = [
    processOf(3, 1),
    { curt_creates_total: each("outcome", { refused: 1 }) },
    processOf(4, 0),
  ];
  const text = textOf(readings);
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  expect(lines).toEqual([
    String.raw`curt_build_info{version="a \"quoted\" \\\n"} 1`,
    'curt_creates_total{outcome="created"} 7',
    'curt_creates_total{outcome="refused"} 1',
    "curt_store_up 0",
    "curt_links 4",
  ]);
  expect(text).toContain("# TYPE curt_links gauge\ncurt_links 4\n\n# HELP ");
  // Counters of a process stay when it ends, gauges don't.
  expect(textOf([sumCounters(readings)])).toContain('curt_creates_total{outcome="created"} 7\n');
  expect(textOf([sumCounters(readings)])).not.toMatch(/^curt_links /m);
});
