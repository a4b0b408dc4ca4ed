import type { PostgresAddress } from "../../../src/config/database-url.ts";
import { freePort } from "../../support/free-port.ts";
import {
  addressOf,
  PASSWORD,
  type PostgresServer,
  startPostgres,
  urlOf,
  USER,
} from "../../support/postgres.ts";

const WAIT_MS = 10;
const MAX_WAITS = 6000;

/** A primary and standbys. A commit returns once one of the standbys has it. */
export interface PostgresCluster extends AsyncDisposable {
  /** The first one is the primary at the start. */
  readonly servers: readonly PostgresServer[];
  /** The URL of the database `name` on all servers. Creates it if it's missing. */
  url(name?: string): Promise<string>;
  address(name?: string): Promise<PostgresAddress>;
  /**
   * Promotes the standby that has received most, lets the others follow it, and resolves with it, like a cluster manager
   * after the loss of the primary.
   */
  promote(standbys: readonly PostgresServer[]): Promise<PostgresServer>;
}

export async function startCluster(standbys = 1, settings: readonly string[] = []): Promise<PostgresCluster> {
  const ports: number[] = [];
  for (let nth = 0; nth <= standbys; nth++) ports.push(await freePort());
  const common = [
    // On each server from the start: otherwise commits right after a promotion are on one server only.
    `synchronous_standby_names=ANY 1 (${ports.map((port) => `standby_${port}`).join(", ")})`,
    "max_wal_senders=10",
    "wal_keep_size=256MB",
    "wal_retrieve_retry_interval=100ms",
    ...settings,
  ];
  // All are copies of one fresh folder, so they belong to one cluster.
  const servers = await Promise.all(
    ports.map((port, nth) =>
      startPostgres(
        [...common, `primary_conninfo=${following(port, ports[0])}`],
        nth === 0 ? { port } : { port, files: { "standby.signal": "" } },
      ),
    ),
  );
  const [primary] = servers;
  if (primary === undefined) throw new Error("no server");
  await untilFollowed(primary, standbys);

  async function url(name = "curt"): Promise<string> {
    await primary?.url(name);
    return urlOf(ports, name);
  }
  return {
    servers,
    url,
    address: async (name) => addressOf(await url(name)),
    async promote(candidates) {
      const received = await Promise.all(candidates.map(receivedBytes));
      const chosen = candidates[received.indexOf(Math.max(...received))];
      if (chosen === undefined) throw new Error("no standby");
      await chosen.query("SELECT pg_promote(true, 60)");
      const others = candidates.filter((candidate) => candidate !== chosen);
      await Promise.all(others.map((other) => follow(other, chosen)));
      return chosen;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
    },
  };
}

function following(port: number, primaryPort = port): string {
  return `host=127.0.0.1 port=${primaryPort} user=${USER} password=${PASSWORD} application_name=standby_${port}`;
}

async function follow(standby: PostgresServer, primary: PostgresServer): Promise<void> {
  await standby.query(`ALTER SYSTEM SET primary_conninfo = '${following(standby.port, primary.port)}'`);
  await standby.query("SELECT pg_reload_conf()");
}

async function receivedBytes(standby: PostgresServer): Promise<number> {
  const [row] = await standby.query("SELECT pg_last_wal_receive_lsn() - '0/0'::pg_lsn AS bytes");
  return Number(row?.["bytes"] ?? 0);
}

async function untilFollowed(primary: PostgresServer, standbys: number): Promise<void> {
  for (let waits = 0; waits < MAX_WAITS; waits++) {
    const [row] = await primary.query("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'quorum'");
    if (Number(row?.["count"]) === standbys) return;
    await Bun.sleep(WAIT_MS);
  }
  throw new Error("the standbys do not follow");
}
