import { expect } from "bun:test";

import type { PostgresAddress } from "../../src/config/database-url.ts";
import { StoreUnavailable } from "../../src/links/store.ts";
import {
  type Database,
  type DatabaseOptions,
  openDatabase,
} from "../../src/store/postgres/connection/database.ts";

/** No statement takes longer, whatever happens. Its limit is 1 s; the rest is for busy machines. */
const BOUND_MS = 30_000;
/** For a store that should answer, however busy the machine is. */
export const PATIENT = { limitMs: 30_000, openWaitMs: 30_000 } as const;
/** Until a database is back: a minute at least. */
export const MAX_TRIES = 6000;
export const TRY_MS = 10;

export function open(address: PostgresAddress, options?: DatabaseOptions) {
  const database = openDatabase(address, options);
  return Object.assign(database, { [Symbol.asyncDispose]: () => database.close() });
}

/** The same, once it is connected. On a busy machine, that may take longer than a statement may. */
export async function openConnected(address: PostgresAddress, options?: DatabaseOptions) {
  const database = open(address, options);
  await untilBack(() => database.run("SELECT 1"));
  return database;
}

/** Why it is unavailable. */
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

/** Tries until it works. Each time before, it is unavailable. */
export async function untilBack<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    try {
      return await work();
    } catch (error) {
      expect(error).toBeInstanceOf(StoreUnavailable);
      await Bun.sleep(TRY_MS);
    }
  }
  throw new Error("it did not come back");
}

/** Until it is known that no server can be used, and why. */
export async function untilAway(database: Database): Promise<string> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const reason = await database.run("SELECT 1").then(() => "", String);
    if (reason.includes("No server")) return reason;
    await Bun.sleep(TRY_MS);
  }
  throw new Error("it did not go away");
}

/** Collects what is told of the database's leader. */
export function listen() {
  const told: { name: string; trouble: string | undefined }[] = [];
  return {
    told,
    onPrimary: (name: string, trouble: string | undefined) => told.push({ name, trouble }),
    async untilTold(times: number): Promise<void> {
      for (let tries = 0; told.length < times; tries++) {
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
