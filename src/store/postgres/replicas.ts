import type { PostgresAddress } from "../../config/database-url.ts";
import type { LinkKey } from "../../links/code.ts";
import type { LinkStore } from "../../links/link-store.ts";
import type { StoredLink } from "../../links/link.ts";
import { createCommits } from "../shared/commits.ts";
import { isStorable } from "../shared/sql.ts";
import { MARK, type Now } from "./changes.ts";
import { connector, type Host, type Value } from "./connection/connection.ts";
import type { Run } from "./connection/database.ts";
import { openPool, type Pool } from "./connection/pool.ts";
import { type Leader, nameOf } from "./connection/primary.ts";
import { LINK_COLUMNS, type LinkRow, toLink } from "./link-row.ts";

const LOOK_UPS = { waiting: 10_000, batch: 200, atOnce: 3, waitMs: 150 };
/** A replica that takes longer is not used until it answers in time again. */
const LIMIT_MS = 200;
/** Less than LIMIT_MS, so that the server gives up first. */
const STATEMENT_MS = 150;
/** How often an unavailable replica is tried. */
const RETRY_MS = 500;
/** How long a replica is skipped after it lacked the newest change. */
const BEHIND_MS = 50;
/** How long a reading of the changes stays valid. With LIMIT_MS less than a second. */
const KNOWN_MS = 700;

/**
 * Whether a replica is current. It must have the newest known change ($1) with its time ($2), which proves the same
 * history. No transaction up to that one may still run in this snapshot.
 */
const FIND = `
  WITH server AS MATERIALIZED (
    SELECT pg_snapshot_xmin(pg_current_snapshot()) > $1::xid8 AND EXISTS (
      SELECT FROM changes WHERE transaction = $1::xid8 AND extract(epoch FROM made_at)::text = $2) AS is_current
  )
  SELECT is_current, links.* FROM server
    LEFT JOIN LATERAL (SELECT ${LINK_COLUMNS} FROM links WHERE is_current AND code = ANY ($3)) AS links ON TRUE`;

interface Replica {
  readonly name: string;
  readonly pool: Pool;
  /** Undefined while it can be used. */
  retry: ReturnType<typeof setTimeout> | undefined;
  behindUntilMs: number;
}

type FoundRow = { is_current: boolean; code: LinkKey | null } & Omit<LinkRow, "code">;

export interface ReplicaOptions {
  /** For each replica. */
  readonly connections?: number | undefined;
  /** Called when a replica cannot be used, with the reason, and when it can be again. */
  readonly onReplica?: ((name: string, trouble: string | undefined) => void) | undefined;
}

/**
 * Look-ups in replicas. A replica's response counts only if it has all changes that this process has read. Otherwise it
 * might return a link as it was before it was disabled, and the cache would keep that.
 */
export function openReplicas(
  address: PostgresAddress,
  { run }: { readonly run: Run },
  { connections = 8, onReplica = () => {} }: ReplicaOptions,
) {
  const connect = connector(address, STATEMENT_MS);
  const replicas = address.hosts.map((host): Replica => {
    const pool = openPool(connect, connections, (onChange) => always(host, onChange));
    return { name: nameOf(host), pool, retry: undefined, behindUntilMs: 0 };
  });
  const lookUps = createCommits(LOOK_UPS, findAll);
  let reading: (Now & { readonly atMs: number }) | undefined;
  /** A change that this process wrote, and the server that took it. */
  let mark: { readonly transaction: bigint; readonly server: string } | undefined;
  let marking: Promise<void> | undefined;
  let turn = 0;
  let isClosed = false;

  /** The newest change, which a replica must have. Undefined if this process doesn't know it. */
  function required(): Value[] | undefined {
    if (reading === undefined || performance.now() - reading.atMs > KNOWN_MS) return undefined;
    const { newest, made, server } = reading;
    const isMarked = mark?.server === server && BigInt(newest) >= mark.transaction;
    return isMarked && made !== null ? [newest, made] : undefined;
  }

  async function markServer(): Promise<void> {
    const { rows } = await run<{ transaction: string; server: string }>(MARK);
    for (const { transaction, server } of rows) mark = { server, transaction: BigInt(transaction) };
  }

  function choose(): Replica | undefined {
    for (let tried = 0; tried < replicas.length; tried++) {
      const replica = replicas[turn++ % replicas.length];
      if (replica?.retry === undefined && performance.now() >= (replica?.behindUntilMs ?? 0)) return replica;
    }
    return undefined;
  }

  async function query({ pool }: Replica, known: readonly Value[], codes: readonly LinkKey[]) {
    const untilMs = performance.now() + LIMIT_MS;
    const { rows } = await pool.use(LIMIT_MS, (connection) =>
      connection.run<FoundRow>(FIND, [...known, codes], untilMs - performance.now()),
    );
    return rows;
  }

  async function findAll(codes: readonly LinkKey[]): Promise<(StoredLink | undefined)[]> {
    const known = required();
    const replica = known && choose();
    if (known === undefined || replica === undefined) return codes.map(() => undefined);
    try {
      const rows = await query(replica, known, [...new Set(codes)]);
      if (rows[0]?.is_current !== true) replica.behindUntilMs = performance.now() + BEHIND_MS;
      const linksByCode = new Map(
        rows.flatMap(({ code, ...row }) => (code === null ? [] : [[code, toLink({ code, ...row })]])),
      );
      return codes.map((code) => linksByCode.get(code));
    } catch (error) {
      if (replica.retry === undefined) onReplica(replica.name, (error as Error).message);
      retryLater(replica);
      return codes.map(() => undefined);
    }
  }

  /** Retries in the background: no request waits for an unavailable replica. */
  function retryLater(replica: Replica): void {
    clearTimeout(replica.retry);
    if (!isClosed) replica.retry = setTimeout(() => void retry(replica), RETRY_MS);
  }

  async function retry(replica: Replica): Promise<void> {
    try {
      await query(replica, ["0", ""], []);
      replica.retry = undefined;
      onReplica(replica.name, undefined);
    } catch {
      retryLater(replica);
    }
  }

  return {
    /** Takes a reading of the changes, started at `atMs` (`performance.now`). */
    read(now: Now, atMs: number): void {
      reading = { ...now, atMs };
      // A server that has just become the primary may have another history than a replica, up to its first change.
      if (now.made !== null && now.server === mark?.server) return;
      marking ??= markServer()
        .catch(() => {})
        .finally(() => (marking = undefined));
    },
    async findNear(code) {
      if (!isStorable(code) || choose() === undefined) return undefined;
      const [link] = await lookUps.add([code]).catch(() => []);
      return link;
    },
    async close() {
      isClosed = true;
      for (const { retry: timer } of replicas) clearTimeout(timer);
      await Promise.all(replicas.map(({ pool }) => pool.close()));
    },
  } satisfies Pick<LinkStore, "findNear"> & { read: unknown; close: unknown };
}

export type Replicas = ReturnType<typeof openReplicas>;

/** Uses a server whether or not it is the primary. */
function always(host: Host, onChange: () => void): Leader {
  queueMicrotask(onChange);
  const noWatch = { doubt() {}, refuse() {}, close: async () => {} };
  return { host, isStuck: false, trouble: undefined, ...noWatch };
}
