import { readFileSync } from "node:fs";
import { join } from "node:path";

import { startCluster } from "../test/endurance/postgres/cluster.ts";
import type { PostgresServer } from "../test/support/postgres.ts";
import { childrenOf } from "../test/support/processes.ts";
import { generated, type Load, visits, visitsOnce } from "./load.ts";
import {
  cpuUs,
  inTurns,
  measure,
  median,
  medianOf,
  perSecond,
  ratios,
  type Round,
  rounded,
} from "./measure.ts";
import { TICK_US } from "./process.ts";
import type { Bench, Result } from "./report.ts";
import { makeLinks, type Server, startCurt } from "./servers.ts";

const ROUNDS = 3;
const CREATES_MS = 4000;
const VISITS_MS = 2000;
/** As many links as the other parts have, so that memory holds the same. */
const HOT_LINKS = 100_000;
/** More than Curt's memory of links holds, so that none is there when it is visited again. */
const COLD_LINKS = 600_000;
/** Durable settings with enough memory, unlike those of tests. */
const SETTINGS = ["fsync=on", "full_page_writes=on", "shared_buffers=512MB", "max_wal_size=4GB"];

interface PostgresRound extends Round {
  /** CPU time of all processes of both servers. */
  readonly databaseCpuUs?: number;
  /** Bytes written to the log of the primary. */
  readonly walBytes?: number;
}

/** The cost of Curt and PostgreSQL on two cores, when each commit waits for a synchronous standby. */
export async function measurePostgres({ folder, stage, progress }: Bench): Promise<Result> {
  const sqlite = await stage();
  progress("starting PostgreSQL and a standby");
  await using cluster = await startCluster(1, SETTINGS);
  const settings = { DATABASE_URL: await cluster.url(), DATA_DIR: join(folder, "postgres") };
  const curt = await startCurt(folder, { settings });
  const measured = (load: Load) => () => measureAll(curt, cluster.servers, load);
  const creates = (connections: number) => generated(CREATES_MS, { kind: "creates", connections });
  const unknown = generated(VISITS_MS, { kind: "misses", count: 1e9 });

  progress(`making ${HOT_LINKS} links to be visited from memory`);
  const hotFile = join(folder, "hot-postgres");
  await makeLinks(curt, HOT_LINKS, hotFile);
  const hot = visits(VISITS_MS, { linksFile: hotFile, status: 302 });
  const hotSqlite = visits(VISITS_MS, { linksFile: sqlite.linksFile, status: 302 });
  for (const [server, linksFile] of [
    [curt, hotFile],
    [sqlite.curt, sqlite.linksFile],
  ] as const)
    await visitsOnce(linksFile)(server);
  const hotTurns = await inTurns<PostgresRound, string>(ROUNDS, {
    PostgreSQL: measured(hot),
    SQLite: () => measure(sqlite.curt, hotSqlite),
  });

  progress("creates");
  const createTurns = await inTurns<PostgresRound, string>(ROUNDS, {
    "create, 64 connections": measured(creates(64)),
    "create, 256 connections": measured(creates(256)),
  });

  progress(`making ${COLD_LINKS} links`);
  const coldFile = join(folder, "cold-postgres");
  await makeLinks(curt, COLD_LINKS, coldFile);
  progress("redirects of links that are not in memory, and of unknown codes");
  let visited = 0;
  const cold: Load = async (server) => {
    const done = await visits(VISITS_MS, { linksFile: coldFile, status: 302, from: visited })(server);
    visited = (visited + done.requests) % COLD_LINKS;
    return done;
  };
  // Curt's memory is full of other links then.
  await cold(curt);
  await cold(curt);
  const otherTurns = await inTurns<PostgresRound, string>(ROUNDS, {
    "cold redirect": measured(cold),
    "unknown code": measured(unknown),
  });
  await curt.stop();

  const [hots = [], overSqlite = []] = Object.values(hotTurns);
  const cases = {
    ...createTurns,
    ...otherTurns,
    "hot redirect": hots,
  };
  const rows = Object.entries(cases).map(([name, rounds]) => ({
    "PostgreSQL with a synchronous standby": name,
    "requests/s": medianOf(rounds, perSecond),
    "Curt, µs": medianOf(rounds, cpuUs),
    "PostgreSQL, µs": medianOf(rounds, databaseUs),
    "2 cores would give, requests/s": ofTwoCores(rounds),
    "WAL, bytes": medianOf(rounds, ({ walBytes = Number.NaN }) => walBytes),
  }));
  const [by64 = [], by256 = []] = Object.values(createTurns);
  return {
    rows,
    rounds: { hot: hotTurns, creates: createTurns, others: otherTurns },
    figures: {
      "creates/s over PostgreSQL, 64 connections, 2 cores": { Curt: ofTwoCores(by64) },
      "creates/s over PostgreSQL, 256 connections, 2 cores": { Curt: ofTwoCores(by256) },
      "cold redirects/s over PostgreSQL, 2 cores": { Curt: ofTwoCores(otherTurns["cold redirect"] ?? []) },
      "hot redirect over PostgreSQL, × SQLite": { Curt: median(ratios(hots, overSqlite, cpuUs)) },
    },
  };
}

function ofTwoCores(rounds: readonly PostgresRound[]): number {
  return 2e6 / medianOf(rounds, (round) => cpuUs(round) + databaseUs(round));
}

const databaseUs = ({ databaseCpuUs = Number.NaN }: PostgresRound) => databaseCpuUs;

/** Measures Curt and PostgreSQL together. Neither counts as disturbance. */
async function measureAll(
  curt: Server,
  servers: readonly PostgresServer[],
  load: Load,
): Promise<PostgresRound> {
  const database = () => servers.map(familyCpuUs).reduce((sum, us) => sum + us, 0);
  const before = { databaseUs: database(), walBytes: await loggedBytes(servers), startMs: performance.now() };
  const round = await measure(curt, load);
  const usedUs = database() - before.databaseUs;
  const databaseCores = usedUs / 1000 / (performance.now() - before.startMs);
  return {
    ...round,
    otherCores: rounded(Math.max(0, round.otherCores - databaseCores), 3),
    databaseCpuUs: rounded(usedUs / round.requests, 3),
    walBytes: rounded(((await loggedBytes(servers)) - before.walBytes) / round.requests, 1),
  };
}

async function loggedBytes([primary]: readonly PostgresServer[]): Promise<number> {
  const [row] = (await primary?.query("SELECT pg_current_wal_insert_lsn() - '0/0' AS bytes")) ?? [];
  return Number(row?.["bytes"]);
}

/** User and system time of a server with its processes, including ended ones (proc(5), stat). */
export function familyCpuUs({ pid }: PostgresServer): number {
  const ticks = [pid, ...childrenOf(pid)].flatMap((member) => {
    const stat = statOf(member);
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields.slice(11, member === pid ? 15 : 13).map(Number);
  });
  return ticks.reduce((sum, of) => sum + of, 0) * TICK_US;
}

/** Empty if it has just ended: its time then is its parent's. */
function statOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return "";
  }
}
