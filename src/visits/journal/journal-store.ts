// The file `store` in a journal's folder names its store: two stores with the same file name may share DATA_DIR, and a start must not
// fold the visits of one into the other.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { reasonOf } from "../../lib/error-reason.ts";
import { syncFolder } from "../../lib/files.ts";
import { StoreUnusable } from "../../links/link-store.ts";
import type { OwnIdentity, StoreIdentity } from "../days/visit-store.ts";
import { journalState } from "./journal-state.ts";
import { lockFile } from "./slots.ts";

const LOCK_TRIES = 500;
const LOCK_PAUSE_MS = 20;

/**
 * Assigns the journal to this store if it belongs to none or its store is gone, and calls `take` before another process can do the
 * same. Throws {@link StoreUnusable} for the journal of another store, and changes nothing.
 */
export async function claimJournal<T>(folder: string, store: OwnIdentity, take: () => T): Promise<T> {
  using _ = await lockClaims(folder);
  requireOwnJournal(folder, store);
  const owner = readJournalStore(folder);
  if (!isSame(owner, store) || owner?.place !== store.place) write(folder, store);
  return take();
}

async function lockClaims(folder: string): Promise<Disposable> {
  const path = join(folder, "store.lock");
  for (let tries = 0; tries < LOCK_TRIES; tries++) {
    const lock = lockFile(path);
    if (lock !== undefined) return lock;
    await Bun.sleep(LOCK_PAUSE_MS);
  }
  throw new StoreUnusable(`${path} is locked by another process. Stop it, and start again.`);
}

/** Throws {@link StoreUnusable} for the journal of another store. Fine if it belongs to none yet, as before Curt kept track. */
export function requireOwnJournal(folder: string, store: OwnIdentity): void {
  const owner = readJournalStore(folder);
  if (owner === undefined || (owner.id === store.id && owner.place === store.place)) return;
  if (store.isElsewhere(owner))
    throw new StoreUnusable(
      `${folder} is the journal of ${owner.place}, and its visits must not get into ${store.place}${owner.id === store.id ? ", a copy" : ""}. Set DATA_DIR to another folder.`,
    );
  const isCopy = owner.id === store.id;
  // A database that an upgrade or a restore has put into its own place isn't a copy.
  if (!isSame(owner, store) && journalState(folder) !== "idle")
    throw new StoreUnusable(
      `${folder} has visits of another store, which was at ${owner.place}, and they must not get into ${store.place}${isCopy ? ", a copy" : ""}. Put that store back, or set DATA_DIR to another folder.${isCopy ? ` If the database has moved, delete ${join(folder, "store")}.` : ""}`,
    );
}

/** An earlier Curt wrote no cluster. */
function isSame(owner: StoreIdentity | undefined, { id, cluster }: StoreIdentity): boolean {
  return owner?.id === id && (owner.cluster ?? cluster) === cluster;
}

export function journalUnusable(folder: string, cause: unknown): StoreUnusable {
  return new StoreUnusable(
    `${folder} cannot keep visits until they are in the store: ${reasonOf(cause)}. Set DATA_DIR to a folder that Curt can write to.`,
    { cause },
  );
}

/** The store that a journal belongs to. Undefined if there is no journal, or an earlier version created it. */
export function readJournalStore(folder: string): StoreIdentity | undefined {
  const path = join(folder, "store");
  if (!existsSync(path)) return undefined;
  try {
    const { id, place, cluster } = JSON.parse(readFileSync(path, "utf8")) as Partial<StoreIdentity>;
    if (typeof id === "string" && typeof place === "string") return { id, place, cluster };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new StoreUnusable(`${path} is damaged. Delete it if ${folder} belongs to this store.`);
}

function write(folder: string, { id, place, cluster }: StoreIdentity): void {
  const path = join(folder, "store");
  writeFileSync(`${path}.new`, `${JSON.stringify({ id, place, cluster })}\n`, { flush: true });
  renameSync(`${path}.new`, path);
  syncFolder(folder);
}
