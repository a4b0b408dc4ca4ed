import { expect, test } from "bun:test";

import { createHistogram } from "../../src/histogram.ts";
import { histogramValues } from "../../src/metrics/values.ts";

test("a histogram counts each value in the first bucket that takes it, and tells buckets cumulatively", () => {
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
