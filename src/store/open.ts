import type { Config } from "../config.ts";
import type { LinkStore } from "../links/store.ts";
import type { VisitStore } from "../visits/store.ts";
import { checkFile } from "./sqlite/file.ts";
import { openSqliteReader, openSqliteStore, type StoreLimits } from "./sqlite/store.ts";

export type { StoreLimits };

/** Opens the configured store, made or migrated where needed. Throws {@link StoreUnusable}. */
export function openStore(
  database: Config["database"],
  limits?: StoreLimits,
): Promise<LinkStore & VisitStore> {
  return openSqliteStore(database.path, limits);
}

/** What can be read of a store that is open elsewhere. Throws {@link StoreUnusable}. */
export type StoreReader = Pick<LinkStore, "find"> & Pick<VisitStore, "sums" | "days">;

export function openReader(database: Config["database"]): StoreReader {
  return openSqliteReader(database.path);
}

/** Reads the configured store from end to end; undefined when there is none yet. Throws {@link StoreUnusable}. */
export function checkStore(database: Config["database"]): { links: number; damage: string[] } | undefined {
  return checkFile(database.path);
}
