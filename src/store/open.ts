import type { Config } from "../config.ts";
import type { GuardStore } from "../guard/store.ts";
import type { LinkStore } from "../links/store.ts";
import type { VisitStore } from "../visits/store.ts";
import { checkFile, hasFile } from "./sqlite/file.ts";
import { identify } from "./sqlite/identity.ts";
import { openSqliteReader, openSqliteStore, type StoreOptions } from "./sqlite/store.ts";

export type { StoreOptions };

/** Opens the configured store, made or migrated where needed. Throws {@link StoreUnusable}. */
export function openStore(
  database: Config["database"],
  options?: StoreOptions,
): Promise<LinkStore & VisitStore & GuardStore> {
  return openSqliteStore(database.path, options);
}

/** Whether the configured store was made before. */
export function hasStore(database: Config["database"]): boolean {
  return hasFile(database.path);
}

/** Which files the configured store has at the moment, once it is open. */
export function identifyStore(database: Config["database"]): readonly string[] {
  return identify(database.path);
}

/** What can be read of a store that is open elsewhere. Throws {@link StoreUnusable}. */
export type StoreReader = Pick<LinkStore, "find"> &
  Pick<VisitStore, "sums" | "days" | "daySums"> &
  Pick<GuardStore, "hosts" | "journal" | "search" | "figures" | "cases" | "caseOf">;

export function openReader(
  database: Config["database"],
  openElsewhere: NonNullable<Config["openElsewhere"]>,
): StoreReader {
  return openSqliteReader(database.path, openElsewhere);
}

/** Reads the configured store from end to end; undefined when there is none yet. Throws {@link StoreUnusable}. */
export function checkStore(database: Config["database"]): { links: number; damage: string[] } | undefined {
  return checkFile(database.path);
}
