import { readFile } from "node:fs/promises";
import type { ConnectionOptions } from "node:tls";

import { Client, DatabaseError, type QueryResult, types } from "pg";

import { describeStore, type PostgresAddress } from "../../../config/database-url.ts";
import { StoreMisconfigured, StoreUnavailable } from "../../../links/link-store.ts";
import type { Value as SharedValue } from "../../shared/sql.ts";

export type Host = PostgresAddress["hosts"][number];

/** One connection to one server. It runs one statement at a time. */
export interface Connection {
  readonly isOpen: boolean;
  /** If the server takes longer than `limitMs`, the connection is dropped and the outcome is unknown. */
  run<Row>(text: string, values: readonly Value[], limitMs: number): Promise<Result<Row>>;
  /**
   * Closes it without notifying the server. Never cancel a statement: PostgreSQL reports a commit as done that is
   * cancelled while it waits for its standby, and a failover would lose it.
   */
  drop(): void;
  end(): Promise<void>;
}

/** `signal` aborts the attempt, not the connection. */
export type Connect = (
  host: Host,
  limitMs: number,
  onEnd?: () => void,
  signal?: AbortSignal,
) => Promise<Connection>;

/** `protocol_violation`, with which PgBouncer refuses a session's settings. */
const REFUSED = "08P01";
/** `invalid_authorization_specification`: pg_hba.conf wants TLS here, or does not want it. */
const UNAUTHORIZED = "28000";
const END_MS = 200;
const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 1000;
/** Keeps networks from forgetting idle connections, or detects that they did. */
const KEEP_ALIVE_MS = 10_000;

/**
 * Connects to servers of a cluster. Each session ends statements after `statementMs`, so that none outlives
 * its request. PgBouncer doesn't keep a session's settings: with it, the database's role needs them.
 */
export function connector(address: PostgresAddress, statementMs: number): Connect {
  let hasSettings = true;

  return async (host, limitMs, onEnd, signal) => {
    const untilMs = performance.now() + limitMs;
    // Files come first: while one can't be read, the server sees no attempt.
    const files = Promise.all([waysOf(address), passwordOf(address)]);
    const [ways, password] = await within(files, limitMs, () => {});
    for (;;) {
      signal?.throwIfAborted();
      // The files or the first way may have used up the time.
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0) throw unanswered(limitMs);
      const [ssl = false] = ways;
      const settings = hasSettings ? { statement_timeout: statementMs } : {};
      const client = new Client({
        host: host.host,
        port: host.port,
        user: address.user,
        password: () => password || lackPassword(address),
        database: address.name,
        application_name: "curt",
        types: { getTypeParser: parserOf },
        keepAlive: true,
        keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
        ssl,
        ...settings,
      });
      try {
        return await open(client, leftMs, onEnd, signal);
      } catch (error) {
        const { code } = error as { code?: unknown };
        if (hasSettings && code === REFUSED) hasSettings = false;
        else if (ways.length > 1 && mayDoOtherwise(error)) ways.shift();
        else throw faultOf(error);
      }
    }
  };
}

async function open(
  client: Client,
  limitMs: number,
  onEnd?: () => void,
  signal?: AbortSignal,
): Promise<Connection> {
  let isOpen = false;
  let isUnsure = false;

  function drop(): void {
    // Typed as a stream that cannot be destroyed.
    (client.connection.stream as unknown as NodeJS.WritableStream & { destroy(): void }).destroy();
    over();
  }
  function over(): void {
    if (!isOpen) return;
    isOpen = false;
    onEnd?.();
  }

  // The "end" event informs those who wait for the connection.
  client.on("error", () => {});
  client.once("end", over);
  // The general warning: "canceling wait for synchronous replication". Its text depends on the server's language.
  client.on("notice", ({ code }) => (isUnsure ||= code === "01000"));
  signal?.addEventListener("abort", drop);
  try {
    await within(client.connect(), limitMs, () => {});
  } catch (error) {
    // pg leaves the socket open if it can't answer the server, which then keeps a connection for it.
    drop();
    throw error;
  } finally {
    signal?.removeEventListener("abort", drop);
  }
  isOpen = true;
  return {
    get isOpen() {
      return isOpen;
    },
    drop,
    async run(text, values, statementMs) {
      isUnsure = false;
      try {
        if (statementMs <= 0) throw new StoreUnavailable("No time is left for the statement");
        const result = await within(client.query(text, values as unknown[]), statementMs, drop);
        if (isUnsure) throw new StoreUnavailable("The standby may not have what was committed");
        // Several statements without values have several results.
        const last: QueryResult | undefined = [result].flat().at(-1);
        return { rows: last?.rows ?? [], count: last?.rowCount ?? 0 };
      } catch (error) {
        throw faultOf(error);
      }
    },
    async end() {
      await within(client.end(), END_MS, drop).catch(() => {});
    },
  };
}

/** The server took too long. The statement may still be running. */
export class Unanswered extends StoreUnavailable {}

function unanswered(limitMs: number): Unanswered {
  return new Unanswered(`The database did not answer within ${Math.round(limitMs)} ms`);
}

/** Rejects with {@link Unanswered} if it takes longer, and calls `onLate`. */
export async function within<T>(work: Promise<T>, limitMs: number, onLate: () => void): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  let timer = setTimeout(
    () => {
      // After this thread was busy, timers run before sockets are read, so the answer may have arrived. A second timer
      // runs after the read.
      timer = setTimeout(() => {
        reject(unanswered(limitMs));
        onLate();
      });
    },
    Math.max(0, limitMs),
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The classes of errors that are a mistake in Curt, not a state of the database: features, cardinality, data, integrity,
 * syntax. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const MISTAKES: ReadonlySet<string> = new Set(["0A", "21", "22", "23", "42"]);

/** A missing privilege is the only error of these classes that the operator makes. */
const FORBIDDEN = "42501";

function faultOf(error: unknown): unknown {
  if (error instanceof StoreUnavailable) return error;
  const { code = "" } = error instanceof DatabaseError ? error : {};
  if (code !== FORBIDDEN && MISTAKES.has(code.slice(0, 2))) return error;
  const { message } = error as Error;
  return new StoreUnavailable(`The database: ${message}`, { cause: error });
}

/** The code of PostgreSQL's error, also of one that made the store unavailable. */
export function sqlStateOf(error: unknown): string | undefined {
  const { cause = error } = error as { cause?: unknown };
  return cause instanceof DatabaseError ? cause.code : undefined;
}

/**
 * Whether an early retry is useless and costs the server: it accepts no login (class 28), lacks connections, memory or
 * space (53), or the configuration is wrong.
 */
export function isRefusal(error: unknown): boolean {
  return error instanceof StoreMisconfigured || /^(?:28|53)/.test(sqlStateOf(error) ?? "");
}

/** How long to wait for the next attempt after this many refusals in a row. */
export function retryMs(refusals: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** refusals, MAX_RETRY_MS);
}

/** Only `bigint` differs: none of ours is beyond 2^53. */
function parserOf(...type: Parameters<typeof types.getTypeParser>) {
  return type[0] === types.builtins.INT8 ? Number : types.getTypeParser(...type);
}

/** Read for each connection, so that the password can be changed while Curt runs. */
async function passwordOf({ password }: PostgresAddress): Promise<string | undefined> {
  return typeof password === "object"
    ? (await readSetting("DATABASE_PASSWORD_FILE", password.file)).replace(/\r?\n$/, "")
    : password;
}

/** Fails only if the server asks for a password: it may trust Curt without one. */
function lackPassword(address: PostgresAddress): never {
  throw new StoreMisconfigured(
    `${describeStore(address)} asks for a password, which DATABASE_URL or DATABASE_PASSWORD_FILE must give`,
  );
}

async function readSetting(name: string, file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new StoreMisconfigured(`${name} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

/** How to connect, as libpq does: without TLS (false) or with it, the preferred way first. */
async function waysOf({ sslMode, sslRootCert }: PostgresAddress): Promise<(ConnectionOptions | false)[]> {
  if (sslMode === "disable") return [false];
  const isOwn = sslRootCert !== undefined && sslRootCert !== "system";
  const ca = isOwn ? { ca: await readSetting("sslrootcert", sslRootCert) } : {};
  const rejectUnauthorized = sslMode.startsWith("verify") || (sslMode === "require" && isOwn);
  const name = sslMode === "verify-full" ? {} : { checkServerIdentity: () => undefined };
  const tls = { ...ca, ...name, rejectUnauthorized };
  if (sslMode === "allow") return [false, tls];
  return sslMode === "prefer" ? [tls, false] : [tls];
}

/** Whether a server that refused a connection with TLS may accept one without, or the other way round. */
function mayDoOtherwise(error: unknown): boolean {
  if (error instanceof StoreUnavailable) return false;
  return !(error instanceof DatabaseError) || error.code === UNAUTHORIZED;
}

/** Arrays become arrays of PostgreSQL. */
export type Value = SharedValue | readonly Value[];

export interface Result<Row> {
  readonly rows: readonly Row[];
  /** Rows that a statement without RETURNING changed. */
  readonly count: number;
}
