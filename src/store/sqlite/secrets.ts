import type { Database } from "bun:sqlite";

/** The secret that every process of the instance uses, unless it has one of its own. */
const NAME = "instance";
const PROPOSE = "INSERT INTO secrets (name, secret) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
const FIND = "SELECT secret FROM secrets WHERE name = ?1";

/** Runs in the worker thread. DetachedCall for once in a process, so nothing is prepared. */
export function keepSecret(database: Database, proposed: Uint8Array): Uint8Array {
  database.query<unknown, [string, Uint8Array]>(PROPOSE).run(NAME, proposed);
  return database.query<{ secret: Uint8Array }, [string]>(FIND).get(NAME)?.secret ?? proposed;
}
