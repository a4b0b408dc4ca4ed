import { describeStore, type PostgresAddress } from "../../../config/database-url.ts";
import { StoreMisconfigured, StoreUnavailable, StoreUnusable } from "../../../links/link-store.ts";
import { connector, type Result, sqlStateOf, type Value, within } from "./connection.ts";
import { openPool } from "./pool.ts";
import { type OnPrimary, Primary } from "./primary.ts";

/**
 * Runs one statement with its values ($1, $2, …). Statements have no names, so that they work through PgBouncer. `bigint`
 * arrives as a number. Rejects with {@link StoreUnavailable} if the primary does not answer in time: the statement may
 * still take effect, now or later.
 */
export type Run = <Row = never>(text: string, values?: readonly Value[]) => Promise<Result<Row>>;

/** Statements, each with a limit of time that includes waiting for a connection and retries after conflicts. */
export interface Statements {
  /** In milliseconds. */
  readonly limitMs: number;
  /** On the primary, in a transaction of its own. */
  readonly run: Run;
  /**
   * Several statements in one transaction, within the limit together. It is rolled back if `work` rejects. After a conflict
   * `work` runs again, up to `tries` times in all.
   */
  transaction<T>(work: (run: Run) => Promise<T>, tries?: number): Promise<T>;
}

/** The database of one cluster, through whichever server leads it. */
export interface Database extends Statements {
  /** The same with another limit, for work that nobody waits for. Each statement costs two round trips more. */
  within(limitMs: number): Statements;
  close(): Promise<void>;
}

/** Items that wait longer than this share of a statement's limit are refused, so that nobody waits for two limits. */
export const WAIT_SHARE = 0.9;

/** The server gives up first, so that the connection stays usable. */
const EARLIER_MS = 100;
/** After this, PostgreSQL releases the locks of a process that died without closing its connection. */
const IDLE_MS = 5000;

/**
 * Deadlocks and serialization failures. PostgreSQL has rolled the transaction back, and the same work succeeds once others
 * are done. The codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const CONFLICTS: ReadonlySet<string | undefined> = new Set(["40P01", "40001"]);
const TRIES = 5;

const WRITES = /\b(?:INSERT|UPDATE|DELETE)\b/;

export interface DatabaseOptions {
  /** The most connections to the primary; one more to each server asks who leads. */
  readonly connections?: number | undefined;
  readonly limitMs?: number | undefined;
  readonly onPrimary?: OnPrimary | undefined;
}

/** Connects with the first statement. While no server can be used, statements fail immediately. */
export function openDatabase(
  address: PostgresAddress,
  { connections = 8, limitMs: usualMs = 1000, onPrimary }: DatabaseOptions = {},
): Database {
  const connect = connector(address, usualMs - EARLIER_MS);
  const pool = openPool(
    connect,
    connections,
    (onChange) => new Primary(address.hosts, connect, onChange, onPrimary),
  );

  /** Rejects writes while commits are stuck. Reads continue. */
  function checkCommits(text?: string): void {
    if (pool.isStuck && (text === undefined || WRITES.test(text)))
      throw new StoreUnavailable("The database waits for a standby that does not answer");
  }

  const run: Run = (text, values = []) =>
    retried(TRIES, usualMs, (untilMs) => {
      checkCommits(text);
      return pool.use(untilMs - performance.now(), (connection) =>
        connection.run(text, values, untilMs - performance.now()),
      );
    });

  const transaction = <T>(work: (run: Run) => Promise<T>, limitMs: number, tries = TRIES) =>
    retried(tries, limitMs, (untilMs) => transact(work, untilMs));

  async function transact<T>(work: (run: Run) => Promise<T>, untilMs: number): Promise<T> {
    const limitMs = untilMs - performance.now();
    checkCommits();
    return pool.use(limitMs, async (connection) => {
      let isOver = false;
      let fault: unknown;
      const inside: Run = async (text, values = []) => {
        if (isOver) throw new Error("The transaction is over");
        try {
          return await connection.run(text, values, untilMs - performance.now());
        } catch (error) {
          throw (fault ??= error);
        }
      };
      try {
        await inside(startStatement(limitMs));
        const result = await within(work(inside), untilMs - performance.now(), connection.drop);
        // PostgreSQL would answer this COMMIT with a rollback, which is no error.
        if (fault !== undefined) throw fault;
        await inside("COMMIT");
        return result;
      } catch (error) {
        isOver = true;
        if (connection.isOpen) await connection.run("ROLLBACK", [], usualMs).catch(connection.drop);
        throw error;
      }
    });
  }

  return {
    limitMs: usualMs,
    run,
    transaction: (work, tries) => transaction(work, usualMs, tries),
    within: (limitMs) => ({
      limitMs,
      run: (text, values) => transaction((inside) => inside(text, values), limitMs),
      transaction: (work, tries) => transaction(work, limitMs, tries),
    }),
    close: pool.close,
  };
}

/** Repeats work after a conflict, while there is time. */
async function retried<T>(tries: number, limitMs: number, work: (untilMs: number) => Promise<T>): Promise<T> {
  const untilMs = performance.now() + limitMs;
  for (let nth = 1; ; nth++) {
    try {
      return await work(untilMs);
    } catch (error) {
      if (nth >= tries || !CONFLICTS.has(sqlStateOf(error)) || performance.now() >= untilMs) throw error;
    }
  }
}

/** The settings hold for this transaction only, so they also work through PgBouncer. */
function startStatement(limitMs: number): string {
  return `BEGIN ISOLATION LEVEL READ COMMITTED;
    SET LOCAL statement_timeout = ${Math.max(1, Math.ceil(limitMs - EARLIER_MS))};
    SET LOCAL idle_in_transaction_session_timeout = ${IDLE_MS}`;
}

export interface OpeningOptions {
  /** How long to wait for a database that does not answer, before it counts as unusable. Commands do not wait. */
  readonly openWaitMs?: number;
  /** Called once if the database has to be waited for. */
  readonly onWait?: (reason: string) => void;
}

const RETRY_EVERY_MS = 250;
/**
 * SQLSTATEs that no waiting cures: a wrong user or password, an unknown database, no schema to use, a missing privilege,
 * tables that are not Curt's.
 */
const REFUSED = /^(?:28...|3D000|3F000|42...)$/;

/**
 * Runs the first statements on a database. Throws {@link StoreUnusable} if it refuses them or does not answer in time, and
 * {@link StoreMisconfigured}.
 */
export async function reach<T>(
  address: PostgresAddress,
  { openWaitMs = 0, onWait = () => {} }: OpeningOptions,
  work: () => Promise<T>,
): Promise<T> {
  const giveUpMs = performance.now() + openWaitMs;
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const causes = causesOf(error);
      for (const cause of causes) if (cause instanceof StoreMisconfigured) throw cause;
      const reason = causesInWords(causes);
      const isRefused = causes.some(({ code = "" }) => REFUSED.test(code));
      if (isRefused || (error instanceof StoreUnavailable && performance.now() >= giveUpMs)) {
        const problem = isRefused ? "cannot be used" : "does not answer";
        throw new StoreUnusable(
          `${describeStore(address)} ${problem}: ${reason}. Check the address and the password.`,
          {
            cause: error,
          },
        );
      }
      if (!(error instanceof StoreUnavailable)) throw error;
      if (tries === 0) onWait(reason);
      await Bun.sleep(RETRY_EVERY_MS);
    }
  }
}

type Fault = Error & { readonly code?: string };

/** An error and its causes, outermost first. */
function causesOf(error: unknown): Fault[] {
  const causes: Fault[] = [];
  for (let cause = error; cause instanceof Error && causes.length < 8; cause = cause.cause)
    causes.push(cause);
  return causes;
}

/** The first cause says most. Several addresses of one host fail without a message. */
function causesInWords(causes: readonly Fault[]): string {
  const first = causes.at(-1);
  return first?.message || first?.code || "it cannot be reached";
}
