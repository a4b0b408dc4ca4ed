import { readFile } from "node:fs/promises";

import { Pool, type QueryResultRow, types } from "pg";

import { StoreUnavailable } from "../../links/store.ts";
import type { PostgresAddress } from "../../settings/database-url.ts";

/** What a statement may be given: `undefined` counts as NULL. Arrays become arrays of PostgreSQL. */
export type Value = string | number | boolean | Uint8Array | null | undefined | readonly Value[];

export interface Result<Row> {
  readonly rows: readonly Row[];
  /** Rows that a statement without RETURNING changed. */
  readonly count: number;
}

/**
 * Runs one statement with its values ($1, $2, …). Statements have no names, so that they work through PgBouncer. `bigint`
 * arrives as a number. Rejects with {@link StoreUnavailable} if the primary does not answer in time: what such a
 * statement should change may be done, now or later.
 */
export type Run = <Row extends QueryResultRow = never>(
  text: string,
  values?: readonly Value[],
) => Promise<Result<Row>>;

/** The database of one cluster, through whichever server leads it. */
export interface Database {
  /** On the primary, in a transaction of its own. */
  readonly run: Run;
  /** Several statements in one transaction. It is rolled back if `work` rejects. */
  transaction<T>(work: (run: Run) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly connections?: number | undefined;
  readonly queryMs?: number | undefined;
}

export function openDatabase(
  address: PostgresAddress,
  { connections = 8, queryMs = 1000 }: DatabaseOptions = {},
): Database {
  const { password } = address;
  const [first] = address.hosts;
  const pool = new Pool({
    host: first?.host,
    port: first?.port,
    user: address.user,
    password: typeof password === "object" ? () => readPassword(password.file) : password,
    database: address.name,
    types: { getTypeParser: parserOf },
    max: connections,
    connectionTimeoutMillis: queryMs,
    query_timeout: queryMs,
  });
  pool.on("error", () => {});
  return {
    run: (text, values) => run(pool, text, values),
    async transaction(work) {
      const client = await pool.connect();
      try {
        await client.query("BEGIN");
        const result = await work((text, values) => run(client, text, values));
        await client.query("COMMIT");
        return result;
      } catch (error) {
        await client.query("ROLLBACK").catch(() => {});
        throw error;
      } finally {
        client.release();
      }
    },
    close: () => pool.end(),
  };
}

/** A line break at its end does not count. */
async function readPassword(file: string): Promise<string> {
  return (await readFile(file, "utf8")).replace(/\r?\n$/, "");
}

/** Only `bigint` differs: none of ours is beyond 2^53. */
function parserOf(...asked: Parameters<typeof types.getTypeParser>) {
  return asked[0] === types.builtins.INT8 ? Number : types.getTypeParser(...asked);
}

async function run(on: Pick<Pool, "query">, text: string, values?: readonly Value[]) {
  try {
    const { rows, rowCount } = await on.query(text, values as unknown[]);
    return { rows, count: rowCount ?? 0 };
  } catch (cause) {
    throw new StoreUnavailable("The database did not answer", { cause });
  }
}
