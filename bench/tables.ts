import type { CreateResult } from "./creates.ts";
import type { LatencyResult } from "./latencies.ts";
import type { ScaleResult } from "./scale.ts";
import type { VisitResult } from "./visits.ts";

export function visitTable(visits: readonly VisitResult[], reference: string): string[] {
  return aligned([
    [
      "visits, CPU per request",
      "ratio",
      "of each round",
      "Curt",
      reference,
      "requests/s:",
      "Curt",
      reference,
    ],
    ...visits.map(({ name, ratio, ratios, curt, reference: theirs }) => [
      name,
      ratio.toFixed(2),
      each(ratios),
      microseconds(curt.cpuPerRequestUs),
      microseconds(theirs.cpuPerRequestUs),
      "",
      whole(curt.requestsPerSecond),
      whole(theirs.requestsPerSecond),
    ]),
  ]);
}

/** `redirectUs` is what a hot redirect costs the reference, where that was measured. */
export function createTable(
  creates: readonly CreateResult[],
  reference: string,
  redirectUs: number | undefined,
): string[] {
  return aligned([
    [
      "durable creates",
      `in redirects of ${reference}`,
      "CPU per create",
      "per disk sync",
      "creates/s",
      "of each round",
    ],
    ...creates.map(({ connections, cpuPerCreateUs, createsPerSync, createsPerSecond, rounds }) => [
      `${connections} connection${connections === 1 ? "" : "s"}`,
      redirectUs === undefined ? "–" : (cpuPerCreateUs / redirectUs).toFixed(1),
      microseconds(cpuPerCreateUs),
      createsPerSync.toFixed(2),
      whole(createsPerSecond),
      rounds.map((round) => whole(round.requestsPerSecond)).join(" "),
    ]),
  ]);
}

export function scaleTable(scale: ScaleResult, reference: string): string[] {
  const { links, bytesPerLink, starts, visits, misses } = scale;
  return aligned([
    [`${whole(links)} links`, ""],
    ["file, bytes per link", bytesPerLink.toFixed(1)],
    ["start to first redirect", `${whole(starts.medianMs)} ms (${starts.eachMs.map(whole).join(" ")})`],
    ["cold redirect, requests/s", whole(visits.requestsPerSecond)],
    ["  share of the hot rate", `${(visits.shareOfHotRate * 100).toFixed(0)} %`],
    ["  CPU per request", microseconds(visits.cpuPerRequestUs)],
    [`  ratio to ${reference}, hot`, visits.ratio.toFixed(2)],
    ["  ratio to Curt, hot", visits.hotRatio.toFixed(2)],
    ["own memory, MB: before, peak, after cold redirects", megabytes(visits.memory)],
    [`own memory, MB: before, peak, after ${whole(misses.count)} misses`, megabytes(misses.memory)],
    ["misses, requests/s", whole(misses.requestsPerSecond)],
  ]);
}

export function latencyTable(latency: readonly LatencyResult[], reference: string): string[] {
  const [first] = latency;
  return aligned([
    [
      `latency of hot redirects, ${whole(first?.visitsPerSecond ?? 0)}/s`,
      `${reference}: p50`,
      "p99",
      "alone: p50",
      "p99",
      `beside ${whole(first?.createsPerSecond ?? 0)} creates/s: p50`,
      "p99",
      "ratio: p50",
      "p99",
      "p99 of each round",
      "create: p50",
    ],
    ...latency.map(({ syncDelayMs, theirs, alone, beside, p50Ratio, p99Ratio, p99Ratios, createP50Us }) => [
      syncDelayMs === 0 ? "this disk" : `syncs ${syncDelayMs} ms slower`,
      ...[theirs, alone, beside].flatMap(({ p50Us, p99Us }) => [microseconds(p50Us), microseconds(p99Us)]),
      p50Ratio.toFixed(2),
      p99Ratio.toFixed(2),
      each(p99Ratios),
      microseconds(createP50Us),
    ]),
  ]);
}

function each(ratios: readonly number[]): string {
  return ratios.map((ratio) => ratio.toFixed(2)).join(" ");
}

function microseconds(value: number): string {
  return `${value < 100 ? value.toFixed(2) : whole(value)} µs`;
}

function megabytes(memory: ScaleResult["visits"]["memory"]): string {
  const { beforeBytes, peakBytes, afterBytes } = memory;
  return [beforeBytes, peakBytes, afterBytes].map((bytes) => whole(bytes / 1e6)).join(" ");
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString("en");
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
}
