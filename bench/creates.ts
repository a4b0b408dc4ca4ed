import { create } from "./load.ts";
import { measure, median, quietRounds, type Round, rounded, type Server } from "./measure.ts";
import { syncsPerSecond } from "./syncs.ts";

const CONNECTIONS = [1, 32] as const;
const ROUNDS = 3;
const ROUND_MS = 4000;
const SYNCS_MS = 1000;

interface CreateRound extends Round {
  readonly syncsPerSecond: number;
}

export interface CreateResult {
  readonly connections: number;
  /** Medians over the rounds. */
  readonly createsPerSecond: number;
  readonly cpuPerCreateUs: number;
  /** Creates per second by what the disk can sync per second; above 1, creates share their syncs. */
  readonly createsPerSync: number;
  readonly rounds: readonly CreateRound[];
}

/** Durable creates through the API: 1 connection, 32 connections, 1, 32…, the disk measured before each. */
export async function measureCreates(curt: Server, folder: string): Promise<CreateResult[]> {
  let loads = 0;
  const measured = async (connections: number): Promise<CreateRound> => {
    const load = { port: curt.port, connections, durationMs: ROUND_MS, run: `load${loads++}` };
    const syncs = rounded(syncsPerSecond(folder, SYNCS_MS), 1);
    return { ...(await measure(curt, () => create(load))), syncsPerSecond: syncs };
  };
  const [few, many] = CONNECTIONS;
  const pairs = await quietRounds(ROUNDS, async () => [await measured(few), await measured(many)] as const);
  return [
    summary(
      few,
      pairs.map(([round]) => round),
    ),
    summary(
      many,
      pairs.map(([, round]) => round),
    ),
  ];
}

function summary(connections: number, rounds: readonly CreateRound[]): CreateResult {
  return {
    connections,
    createsPerSecond: median(rounds.map((round) => round.requestsPerSecond)),
    cpuPerCreateUs: median(rounds.map((round) => round.cpuPerRequestUs)),
    createsPerSync: rounded(median(rounds.map((round) => round.requestsPerSecond / round.syncsPerSecond)), 2),
    rounds,
  };
}
