import type { Config } from "../config.ts";
import type { LinkStore } from "../links/store.ts";
import type { VisitStore } from "../visits/store.ts";
import { checkFile } from "./sqlite/file.ts";
import { identify } from "./sqlite/identity.ts";
import { openSqliteStore } from "./sqlite/store.ts";

/**
 * Opens the configured store, made or migrated where needed. Where other processes have it open already, it must be
 * the one that they opened. Throws {@link StoreUnusable}.
 */
export function openStore(
  database: Config["database"],
  openElsewhere?: Config["openElsewhere"],
): Promise<LinkStore & VisitStore> {
  return openSqliteStore(database.path, openElsewhere);
}

/** Which files the configured store has at the moment, once it is open. */
export function identifyStore(database: Config["database"]): readonly string[] {
  return identify(database.path);
}

/** Reads the configured store from end to end; undefined when there is none yet. Throws {@link StoreUnusable}. */
export function checkStore(database: Config["database"]): { links: number; damage: string[] } | undefined {
  return checkFile(database.path);
}
