import type { CreateResult } from "./creates.ts";
import type { describeCommit, Machine } from "./machine.ts";
import { isDisturbed } from "./measure.ts";
import type { VisitResult } from "./visits.ts";

export interface Results extends ReturnType<typeof describeCommit> {
  /** ISO 8601, when the run began. */
  readonly date: string;
  readonly machine: Machine;
  /** The servers that Curt is compared with, and what visited both. */
  readonly reference: string;
  readonly visitTool: string;
  readonly links: number;
  readonly visits: readonly VisitResult[];
  readonly creates: readonly CreateResult[];
}

export function fileName({ date, commit }: Results): string {
  return `${date.slice(0, 10)}-${commit}.json`;
}

/** The results for people. */
export function table(results: Results): string {
  const { visits, creates, reference, machine } = results;
  const redirect = visits[0]?.reference.cpuPerRequestUs ?? Number.NaN;
  return [
    heading(results),
    "",
    ...aligned([
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
        ratios.map((each) => each.toFixed(2)).join(" "),
        microseconds(curt.cpuPerRequestUs),
        microseconds(theirs.cpuPerRequestUs),
        "",
        whole(curt.requestsPerSecond),
        whole(theirs.requestsPerSecond),
      ]),
    ]),
    "",
    ...aligned([
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
        (cpuPerCreateUs / redirect).toFixed(1),
        microseconds(cpuPerCreateUs),
        createsPerSync.toFixed(2),
        whole(createsPerSecond),
        rounds.map((round) => whole(round.requestsPerSecond)).join(" "),
      ]),
    ]),
    ...doubts(results).flatMap((doubt) => ["", doubt]),
    ...(machine.pinned ? [] : ["", "Not pinned to cores (no taskset, or one core): expect more noise."]),
  ].join("\n");
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

function doubts({ visits, creates, machine }: Results): string[] {
  const found: string[] = [];
  const rounds = [...visits, ...creates].flatMap((result) => result.rounds);
  const disturbed = rounds.filter(isDisturbed).length;
  if (disturbed > 0)
    found.push(
      `Doubtful: other processes disturbed ${disturbed} of ${rounds.length} rounds. Measure again on a quiet machine.`,
    );
  const misses = visits.filter(
    ({ status, rounds: [curt] }) => status === 302 && (curt?.fileReadsPerRequest ?? 0) > 0.01,
  );
  for (const { name } of misses) found.push(`Doubtful: in "${name}" not every answer came out of memory.`);
  if (machine.databaseInMemory)
    found.push("The database was in memory: the creates were not durable. Set TMPDIR to a folder on a disk.");
  return found;
}

function microseconds(value: number): string {
  return `${value.toFixed(value < 100 ? 2 : 0)} µs`;
}

function whole(value: number): string {
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
