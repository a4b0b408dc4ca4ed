import type { Code } from "./code.ts";
import type { LinkStore } from "./store.ts";

/**
 * How far a reader has read the changes. Only the store that issued a position understands it. A plain number would
 * only work with a single writer: with several, numbers assigned before a commit can be out of commit order.
 */
export type Position = string & { readonly __brand: "Position" };

export interface Changes {
  /** Pass this to the next read. */
  readonly position: Position;
  /** Codes whose link changed. A code may be repeated, even in a later read; forgetting it twice does no harm. */
  readonly codes: readonly Code[];
  /** True if the rules about hosts changed, so that any link may answer differently. */
  readonly rules: boolean;
  /** True if more changes can be read right away. */
  readonly hasMore: boolean;
  /** False if the store no longer has all changes since the reader's position. Then any link may have changed. */
  readonly isComplete: boolean;
}

/** A cache of links that is kept up to date. */
export interface Memory {
  forget(code: Code): void;
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
      for (const code of changes.codes) memory.forget(code);
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
