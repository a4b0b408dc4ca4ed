import type { Code, LinkKey } from "./code.ts";
import type { Changes, LinkStore } from "./link-store.ts";

/** Caches of links that are kept up to date. */
export interface Memory<Id extends Code | LinkKey = LinkKey> {
  forget(link: Id): void;
  forgetAll(): void;
}

export interface ChangeReader {
  /** Resolves when all earlier changes are applied. Rejects with `StoreUnavailable`; the next call catches up. */
  read(): Promise<void>;
}

/**
 * Makes the memory forget links when any process changes them. Changed rules about hosts are read first, so that all
 * later lookups follow the new ones.
 */
export async function followChanges(
  store: Pick<LinkStore, "changes">,
  memory: Memory,
  readRules: () => Promise<void>,
): Promise<ChangeReader> {
  // Links and rules are read after this position.
  let { position } = await store.changes();
  await readRules();
  let last = Promise.resolve();

  async function readAll(): Promise<void> {
    let changes: Changes;
    do {
      changes = await store.changes(position);
      if (changes.rules || !changes.isComplete) {
        await readRules();
        memory.forgetAll();
      }
      for (const key of changes.keys) memory.forget(key);
      ({ position } = changes);
    } while (changes.hasMore);
  }

  return {
    // One after the other, because each continues where the one before ended.
    read() {
      last = last.catch(() => {}).then(readAll);
      return last;
    },
  };
}
