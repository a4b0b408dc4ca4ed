import type { Database } from "bun:sqlite";
import { realpathSync } from "node:fs";
import { isAbsolute } from "node:path";

import type { OwnIdentity, StoreIdentity } from "../../../visits/days/visit-store.ts";
import { identify } from "./file-identity.ts";
import { openChecked } from "./file.ts";

const STORE_ID = "SELECT id FROM store";

function storeIdOf(database: Database): string {
  return database.query<{ id: string }, []>(STORE_ID).get()?.id ?? "";
}

/** See `VisitStore`. */
export function identityOf(database: Database, path: string): OwnIdentity {
  return {
    id: storeIdOf(database),
    place: realpathSync(path),
    isElsewhere: (other) => isElsewhere(path, other),
  };
}

/** The same of a file that this process hasn't open. Undefined if there is no file. */
export function readIdentity(path: string): OwnIdentity | undefined {
  using database = openChecked(path);
  return database && identityOf(database, path);
}

/** A file that can't be read may be the store. */
function isElsewhere(path: string, { id, place }: StoreIdentity): boolean {
  if (!isAbsolute(place)) return true;
  if (identify(place)[0] === identify(path)[0]) return false;
  try {
    using database = openChecked(place, true);
    return database !== undefined && storeIdOf(database) === id;
  } catch {
    return true;
  }
}
