import { fileURLToPath } from "node:url";

import { CONNECTIONS } from "./connections.ts";
import type { Done, Task, Visits } from "./generator.ts";
import { LOAD_CORE, run } from "./process.ts";
import { visitTail } from "./requests.ts";
import type { Server } from "./servers.ts";

/** Time beyond the load itself: start, reading the links, and the last responses. */
const GRACE_MS = 20_000;
const ONCE_LIMIT_MS = 60_000;

const wrk = Bun.which("wrk");
const GENERATOR = fileURLToPath(import.meta.resolve("./generator.ts"));
const WRK_SCRIPT = fileURLToPath(new URL("visits.lua", import.meta.url));

export const VISIT_TOOL = wrk === null ? "own generator" : "wrk";

interface Loaded extends Done {
  /** CPU time of the load generator itself. */
  readonly loadCpuUs: number;
}

export type Load = (server: Server) => Promise<Loaded>;

type VisitOptions = Pick<Visits, "linksFile" | "status" | "from">;

/** Visits until the time is over; with wrk if it is installed, because it needs less CPU time than our generator. */
export function visits(durationMs: number, options: VisitOptions): Load {
  if (wrk !== null) return visitsOfWrk(wrk, durationMs, options);
  return generated(durationMs, { kind: "visits", ...options });
}

/** Visits each link once and checks its destination. */
export function visitsOnce(linksFile: string, { status = 302, browsers = 1 } = {}): Load {
  return generated(ONCE_LIMIT_MS, { kind: "visits", once: true, linksFile, status, browsers });
}

/** The load of our own generator, all tasks simultaneously. */
export function generated(durationMs: number, ...tasks: readonly Task[]): Load {
  return async ({ port, pid }) => {
    const numbers = [port, pid, durationMs].map(String);
    const command = [process.execPath, GENERATOR, ...numbers, JSON.stringify(tasks)];
    const { output, cpuUs } = await run(command, LOAD_CORE, durationMs + GRACE_MS);
    return { ...(JSON.parse(output) as Done), loadCpuUs: cpuUs };
  };
}

function visitsOfWrk(program: string, durationMs: number, { linksFile, status, from }: VisitOptions): Load {
  return async ({ port }) => {
    const options = ["-t1", `-c${CONNECTIONS}`, `-d${Math.ceil(durationMs / 1000)}s`, "-s", WRK_SCRIPT];
    const script = [linksFile, visitTail(port), ...(from === undefined ? [] : [String(from)])];
    const command = [program, ...options, `http://127.0.0.1:${port}`, "--", ...script];
    const { output, cpuUs } = await run(command, LOAD_CORE, durationMs + GRACE_MS);
    const totals = JSON.parse(output.trimEnd().split("\n").at(-1) ?? "") as {
      requests: number;
      durationUs: number;
      refused: number;
      broken: number;
    };
    // wrk only counts statuses above 399. The first visits have checked the status itself.
    const wantedRefused = status > 399 ? totals.requests : 0;
    if (totals.requests === 0 || totals.broken > 0 || totals.refused !== wantedRefused)
      throw new Error(`wrk did not get ${status} for every request:\n${output}`);
    return {
      requests: totals.requests,
      durationMs: totals.durationUs / 1000,
      latencies: [],
      loadCpuUs: cpuUs,
    };
  };
}
