import { join } from "node:path";

import { type BenchLink, shuffled, writeLinks } from "./links.ts";
import { visit, visitOnce } from "./load.ts";
import { measure, median, quietRounds, type Round, rounded, type Server } from "./measure.ts";

const CONNECTIONS = 64;
const ROUNDS = 7;
const ROUND_MS = 2000;
const WARM_UP_MS = 2000;

export interface VisitCase {
  readonly name: string;
  readonly linksFile: string;
  readonly status: number;
}

export interface VisitResult {
  readonly name: string;
  readonly status: number;
  readonly connections: number;
  /** Curt's CPU per request by the reference's, round by round, and the median of those. */
  readonly ratios: readonly number[];
  readonly ratio: number;
  readonly curt: Medians;
  readonly reference: Medians;
  /** In the order in which they were measured. */
  readonly rounds: readonly Round[];
}

interface Medians {
  readonly cpuPerRequestUs: number;
  readonly requestsPerSecond: number;
}

/** The cases, each with a file of the codes that its visitors ask for. `links` exist in both servers. */
export function visitCases(folder: string, links: readonly BenchLink[]): VisitCase[] {
  const visited = shuffled(links);
  // No generated code has a vowel, so these have the usual shape and are not there.
  const unknown = visited.map(([code]): BenchLink => [`a${code.slice(1)}`, ""]);
  const files = { hot: visited, one: visited.slice(0, 1), unknown };
  for (const [name, content] of Object.entries(files)) writeLinks(join(folder, name), content);
  return [
    { name: "hot redirect", linksFile: join(folder, "hot"), status: 302 },
    { name: "one hot code", linksFile: join(folder, "one"), status: 302 },
    { name: "unknown codes", linksFile: join(folder, "unknown"), status: 404 },
  ];
}

/** Curt, reference, Curt, reference…: what slows the machine down for a while slows both. */
export async function measureVisits(
  { name, linksFile, status }: VisitCase,
  curt: Server,
  reference: Server,
): Promise<VisitResult> {
  const load = { connections: CONNECTIONS, linksFile, status };
  for (const { port } of [curt, reference]) {
    await visitOnce({ ...load, port, durationMs: 60_000 });
    await visit({ ...load, port, durationMs: WARM_UP_MS });
  }
  const measured = (server: Server) =>
    measure(server, () => visit({ ...load, port: server.port, durationMs: ROUND_MS }));
  const pairs = await quietRounds(
    ROUNDS,
    async () => [await measured(curt), await measured(reference)] as const,
  );
  const ratios = pairs.map(([ours, theirs]) => rounded(ours.cpuPerRequestUs / theirs.cpuPerRequestUs, 3));
  return {
    name,
    status,
    connections: CONNECTIONS,
    ratios,
    ratio: median(ratios),
    curt: medians(pairs.map(([ours]) => ours)),
    reference: medians(pairs.map(([, theirs]) => theirs)),
    rounds: pairs.flat(),
  };
}

function medians(rounds: readonly Round[]): Medians {
  return {
    cpuPerRequestUs: median(rounds.map((round) => round.cpuPerRequestUs)),
    requestsPerSecond: median(rounds.map((round) => round.requestsPerSecond)),
  };
}
