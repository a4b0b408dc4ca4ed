import { readFileSync, statfsSync } from "node:fs";
import { release } from "node:os";

import { aimRows, type Figures } from "./aims.ts";
import { VISIT_TOOL } from "./load.ts";
import { isDisturbed, type Round } from "./measure.ts";
import { PINNED, ROOT } from "./process.ts";
import { nginx, REFERENCE, type Server, type Stage } from "./servers.ts";

/** The input of a part of the benchmark. */
export interface Bench {
  /** A folder for its files, which is deleted afterwards. */
  readonly folder: string;
  /** The servers that most parts share, started when the first part needs them. */
  stage(): Promise<Stage & { readonly chhotos: readonly Server[] }>;
  progress(text: string): void;
  /** How long the soak takes. */
  readonly minutes: number;
  /** For `compare`: the other commit. For `costs`: the commit to measure. */
  readonly commit?: string | undefined;
}

/** The output of a part of the benchmark. */
export interface Result {
  /** Values by the name of the column with its unit. */
  readonly rows: readonly Row[];
  /** Every round: by case, then by contestant. The nth of each were measured in the same turn. */
  readonly rounds: Readonly<Record<string, Turns>>;
  /** For the comparison with the aims. */
  readonly figures?: Figures;
  readonly doubts?: readonly string[];
  /** Own memory over time, by case. */
  readonly samplesMb?: Readonly<Record<string, readonly number[]>>;
}

export type Row = Readonly<Record<string, Cell>>;
export type Turns = Readonly<Record<string, readonly Round[]>>;
type Cell = string | number | undefined | readonly number[];

export interface Results {
  readonly about: ReturnType<typeof describe> & { readonly chhoto: string | undefined };
  /** Results by part, without skipped parts. */
  readonly parts: Readonly<Record<string, Result>>;
}

/** TMPFS_MAGIC (statfs(2)): files in memory, where a sync costs nothing and proves nothing. */
const TMPFS = 0x01021994;

/** Describes the conditions of a run. `folder` is where the database is. */
export function describe(folder: string) {
  const cpu = /^model name\s*: (.*)$/m.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1] ?? "unknown";
  return {
    /** ISO 8601, when the run started. */
    date: new Date().toISOString(),
    commit: /^\w+$/.exec(output("git", "rev-parse", "--short", "HEAD"))?.[0] ?? "unknown",
    changed: output("git", "status", "--porcelain", "src") !== "",
    cpu,
    cores: navigator.hardwareConcurrency,
    pinned: PINNED,
    kernel: release(),
    databaseInMemory: statfsSync(folder).type === TMPFS,
    bun: Bun.version,
    nginx: nginx === null ? undefined : /nginx\/([\d.]+)/.exec(output(nginx, "-v"))?.[1],
    wrk: Bun.which("wrk") === null ? undefined : /wrk (?:debian\/)?([\d.]+)/.exec(output("wrk", "-v"))?.[1],
    /** The reference, and the program that visited both. */
    reference: REFERENCE,
    visitTool: VISIT_TOOL,
  };
}

function output(...command: readonly string[]): string {
  const { stdout, stderr } = Bun.spawnSync([...command], { cwd: ROOT });
  return `${stdout.toString()}${stderr.toString()}`.trim();
}

/** The results in Markdown. */
export function report({ about, parts }: Results): string {
  const { commit, changed, date, cpu, cores, kernel, bun, reference, visitTool } = about;
  const heading = [
    `Curt at ${commit}${changed ? " with changes" : ""}, ${date}`,
    `${cpu}, ${cores} cores, Linux ${kernel}; Bun ${bun}, nginx ${about.nginx ?? "–"}, wrk ${about.wrk ?? "–"}`,
    `Reference: ${reference}. Visits by: ${visitTool}.${about.chhoto === undefined ? "" : ` Beside: ${about.chhoto}.`}`,
  ];
  const sections = Object.values(parts).map(({ rows }) => table(rows));
  const measured = Object.values(parts).flatMap((part) => Object.entries(part.figures ?? {}));
  // Without nginx, ratios are to another reference.
  const figures: Figures = Object.fromEntries(
    measured.filter(([figure]) => about.nginx !== undefined || !figure.includes("nginx")),
  );
  const aims = Object.keys(figures).length === 0 ? [] : table(aimRows(figures));
  return [heading, aims, ...sections, doubts({ about, parts })]
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

function doubts({ about, parts }: Results): string[] {
  const doubtful = Object.values(parts).flatMap((part) => part.doubts ?? []);
  const rounds = Object.values(parts).flatMap((part) =>
    Object.values(part.rounds).flatMap((turns) => Object.values(turns).flat()),
  );
  const disturbed = rounds.filter(isDisturbed).length;
  if (disturbed > 0)
    doubtful.push(
      `Doubtful: other processes disturbed ${disturbed} of ${rounds.length} rounds. Measure again on a quiet machine.`,
    );
  if (about.databaseInMemory)
    doubtful.push(
      "The database was in memory: the creates were not durable. Set TMPDIR to a folder on a disk.",
    );
  if (!about.pinned) doubtful.push("Not pinned to cores (no taskset, or one core): expect more noise.");
  return doubtful;
}

function table(rows: Result["rows"]): string[] {
  const names = Object.keys(rows[0] ?? {});
  const lines = [names, ...rows.map((row) => names.map((name) => text(row[name])))];
  const widths = names.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const padded = (line: readonly string[]) =>
    line.map((cell, nth) => (nth === 0 ? cell.padEnd(widths[nth] ?? 0) : cell.padStart(widths[nth] ?? 0)));
  const rule = widths.map((width, nth) => (nth === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`));
  const [header = [], ...body] = lines.map(padded);
  return [header, rule, ...body].map((cells) => `| ${cells.join(" | ")} |`);
}

function text(cell: Cell): string {
  if (typeof cell === "string") return cell;
  if (typeof cell === "object") return cell.map(text).join(" ");
  if (cell === undefined || Number.isNaN(cell)) return "–";
  return Math.abs(cell) < 100 && !Number.isInteger(cell)
    ? cell.toFixed(2)
    : Math.round(cell).toLocaleString("en");
}
