import { fileURLToPath } from "node:url";

import { LOAD_CORE, run } from "./processes.ts";
import { visitTail } from "./requests.ts";
import type { Creates, Done, Misses, Mixed, Paced, PacedDone, Task, Visits } from "./tasks.ts";

/** Beyond the load's own time: start, reading the links, and the last answers. */
const GRACE_MS = 20_000;

const wrk = Bun.which("wrk");
const GENERATOR = fileURLToPath(import.meta.resolve("./generator.ts"));
const WRK_SCRIPT = fileURLToPath(new URL("visits.lua", import.meta.url));

export const VISIT_TOOL = wrk === null ? "own generator" : "wrk";

/** What the load generator used itself, in microseconds. */
interface OwnCpu {
  readonly loadCpuUs: number;
}

export type Loaded = Done & OwnCpu;

/** Visits for as long as asked; wrk where there is one, because it takes less of its core than we do. */
export async function visit(task: Omit<Visits, "kind" | "once">): Promise<Loaded> {
  return wrk === null ? generate({ ...task, kind: "visits", once: false }) : visitWithWrk(wrk, task);
}

/** Visits each link once and checks that it leads to its target. */
export function visitOnce(task: Omit<Visits, "kind" | "once">): Promise<Loaded> {
  return generate({ ...task, kind: "visits", once: true });
}

export function miss(task: Omit<Misses, "kind">): Promise<Loaded> {
  return generate({ ...task, kind: "misses" });
}

export function create(task: Omit<Creates, "kind">): Promise<Loaded> {
  return generate({ ...task, kind: "creates" });
}

export function visitAtPace(task: Omit<Paced, "kind">): Promise<PacedDone & OwnCpu> {
  return generate<PacedDone>({ ...task, kind: "paced" });
}

export function mix(task: Omit<Mixed, "kind">): Promise<Loaded> {
  return generate({ ...task, kind: "mixed" });
}

async function generate<D extends Done>(task: Task): Promise<D & OwnCpu> {
  const command = [process.execPath, GENERATOR, JSON.stringify(task)];
  const { output, cpuUs } = await run(command, LOAD_CORE, task.durationMs + GRACE_MS);
  return { ...(JSON.parse(output) as D), loadCpuUs: cpuUs };
}

async function visitWithWrk(
  program: string,
  { port, connections, durationMs, linksFile, status, from }: Omit<Visits, "kind" | "once">,
): Promise<Loaded> {
  const options = ["-t1", `-c${connections}`, `-d${Math.ceil(durationMs / 1000)}s`, "-s", WRK_SCRIPT];
  const script = [linksFile, visitTail(port), ...(from === undefined ? [] : [String(from)])];
  const command = [program, ...options, `http://127.0.0.1:${port}`, "--", ...script];
  const { output, cpuUs } = await run(command, LOAD_CORE, durationMs + GRACE_MS);
  const totals = JSON.parse(output.trimEnd().split("\n").at(-1) ?? "") as {
    requests: number;
    durationUs: number;
    refused: number;
    broken: number;
  };
  // wrk counts only whether a status is above 399; which one it is, the first visits have checked.
  const wantedRefused = status > 399 ? totals.requests : 0;
  if (totals.requests === 0 || totals.broken > 0 || totals.refused !== wantedRefused)
    throw new Error(`wrk did not get ${status} for every request:\n${output}`);
  return { requests: totals.requests, durationMs: totals.durationUs / 1000, loadCpuUs: cpuUs };
}
