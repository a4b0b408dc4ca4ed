import { expect } from "bun:test";

import type { PostgresAddress } from "../../src/config/database-url.ts";
import { StoreUnavailable } from "../../src/links/link-store.ts";
import {
  type Database,
  type DatabaseOptions,
  openDatabase,
} from "../../src/store/postgres/connection/database.ts";

/** No statement takes longer, whatever happens. Its limit is 1 s; the rest is for busy machines. */
const BOUND_MS = 30_000;
/** For a store that should respond even on a busy machine. */
export const PATIENT = { limitMs: 30_000, openWaitMs: 30_000 } as const;
/** Tries until a database is back: at least a minute. */
export const MAX_TRIES = 6000;
export const TRY_MS = 10;

export function open(address: PostgresAddress, options?: DatabaseOptions) {
  const database = openDatabase(address, options);
  return Object.assign(database, { [Symbol.asyncDispose]: () => database.close() });
}

/** Waits for the connection: on a busy machine, it may take longer than a statement's limit. */
export async function openConnected(address: PostgresAddress, options?: DatabaseOptions) {
  const database = open(address, options);
  await untilBack(() => database.run("SELECT 1"));
  return database;
}

/** Expects `work` to fail as unavailable within the bound, and returns the reason. */
export async function refusal(work: Promise<unknown>): Promise<string> {
  const sinceMs = performance.now();
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(performance.now() - sinceMs).toBeLessThan(BOUND_MS);
  expect(error).toBeInstanceOf(StoreUnavailable);
  return (error as Error).message;
}

/** Repeats `work` until it succeeds. Each failure before must be StoreUnavailable. */
export async function untilBack<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    try {
      return await work();
    } catch (error) {
      expect(error).toBeInstanceOf(StoreUnavailable);
      await Bun.sleep(TRY_MS);
    }
  }
  throw new Error("the database did not come back");
}

/** Waits until no server can be used, and returns why. */
export async function untilAway(database: Database): Promise<string> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const reason = await database.run("SELECT 1").then(() => "", String);
    if (reason.includes("No server")) return reason;
    await Bun.sleep(TRY_MS);
  }
  throw new Error("the database did not go away");
}

/** Collects the reports about the database's primary. */
export function collectReports() {
  const reports: { name: string; trouble: string | undefined }[] = [];
  return {
    reports,
    onPrimary: (name: string, trouble: string | undefined) => reports.push({ name, trouble }),
    async untilReported(times: number): Promise<void> {
      for (let tries = 0; reports.length < times; tries++) {
        expect(tries).toBeLessThan(MAX_TRIES);
        await Bun.sleep(TRY_MS);
      }
    },
  };
}

const COUNT = "SELECT count(*) FROM rows";

export async function count(database: Database): Promise<number> {
  const { rows } = await untilBack(() => database.run<{ count: number }>(COUNT));
  return rows[0]?.count ?? 0;
}

/** The same, but it fails if the database is unavailable. */
export async function countAtOnce(database: Database): Promise<number> {
  const { rows } = await database.run<{ count: number }>(COUNT);
  return rows[0]?.count ?? 0;
}
