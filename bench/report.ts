import type { CreateResult } from "./creates.ts";
import type { LatencyResult } from "./latencies.ts";
import { SYNC_DELAYS_MS } from "./latency.ts";
import type { describeCommit, Machine } from "./machine.ts";
import { isDisturbed } from "./measure.ts";
import type { ScaleResult } from "./scale.ts";
import { createTable, latencyTable, scaleTable, visitTable, whole } from "./tables.ts";
import type { VisitResult } from "./visits.ts";

export const PARTS = ["visits", "creates", "scale", "latency"] as const;
export type Part = (typeof PARTS)[number];

export interface Results extends ReturnType<typeof describeCommit> {
  /** ISO 8601, when the run began. */
  readonly date: string;
  readonly machine: Machine;
  /** The servers that Curt is compared with, and what visited both. */
  readonly reference: string;
  readonly visitTool: string;
  readonly links: number;
  /** What was measured; of the others there is nothing. */
  readonly parts: readonly Part[];
  readonly visits: readonly VisitResult[];
  readonly creates: readonly CreateResult[];
  readonly scale?: ScaleResult;
  readonly latency: readonly LatencyResult[];
}

export function fileName({ date, commit, parts }: Results): string {
  const which = parts.length === PARTS.length ? [] : parts;
  return `${[date.slice(0, 10), commit, ...which].join("-")}.json`;
}

/** The results for people. */
export function table(results: Results): string {
  const { visits, creates, scale, latency, reference, machine } = results;
  const sections = [
    [heading(results)],
    visits.length > 0 ? visitTable(visits, reference) : [],
    creates.length > 0 ? createTable(creates, reference, visits[0]?.reference.cpuPerRequestUs) : [],
    scale === undefined ? [] : scaleTable(scale, reference),
    latency.length > 0 ? latencyTable(latency, reference) : [],
    doubts(results),
    machine.pinned ? [] : ["Not pinned to cores (no taskset, or one core): expect more noise."],
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

function heading({ commit, changed, date, machine, reference, visitTool, links }: Results): string {
  const versions = [`Bun ${machine.bun}`];
  if (machine.nginx !== undefined) versions.push(`nginx ${machine.nginx}`);
  if (machine.wrk !== undefined) versions.push(`wrk ${machine.wrk}`);
  return [
    `Curt at ${commit}${changed ? " with changes" : ""}, ${date}`,
    `${machine.cpu}, ${machine.cores} cores, Linux ${machine.kernel}; ${versions.join(", ")}`,
    `Reference: ${reference}. Visits by: ${visitTool}. Links: ${whole(links)}.`,
  ].join("\n");
}

function doubts({ visits, creates, scale, latency, machine }: Results): string[] {
  const found: string[] = [];
  const rounds = [
    ...[...visits, ...creates, ...latency].flatMap((result) => result.rounds),
    ...(scale?.visits.rounds ?? []),
  ];
  const disturbed = rounds.filter(isDisturbed).length;
  if (disturbed > 0)
    found.push(
      `Doubtful: other processes disturbed ${disturbed} of ${rounds.length} rounds. Measure again on a quiet machine.`,
    );
  const misses = visits.filter(
    ({ status, rounds: [curt] }) => status === 302 && (curt?.fileReadsPerRequest ?? 0) > 0.01,
  );
  for (const { name } of misses) found.push(`Doubtful: in "${name}" not every answer came out of memory.`);
  if (latency.length > 0 && latency.length < SYNC_DELAYS_MS.length)
    found.push("Syncs could not be slowed down here, so that case is missing; its error says why.");
  if (machine.databaseInMemory)
    found.push("The database was in memory: the creates were not durable. Set TMPDIR to a folder on a disk.");
  return found;
}
