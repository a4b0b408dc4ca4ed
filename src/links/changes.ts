import type { Code } from "./code.ts";
import type { LinkStore } from "./store.ts";

/**
 * How far a reader has read the changes. Only the store that issued a position understands it. It is not simply a
 * number, because that works with a single writer only: with several, numbers assigned before a commit can be out of
 * commit order.
 */
export type Position = string & { readonly __brand: "Position" };

export interface Changes {
  /** Pass this to the next read. */
  readonly position: Position;
  /** Codes whose link changed. A code may be repeated, even in a later read; forgetting it twice does no harm. */
  readonly codes: readonly Code[];
  /** True if more changes can be read right away. */
  readonly hasMore: boolean;
  /** False if the store no longer has all changes since the reader's position. Then any link may have changed. */
  readonly isComplete: boolean;
}

/** A cache of links. */
export interface Memory {
  forget(code: Code): void;
  forgetAll(): void;
}

export interface ChangeReader {
  /** Do not call it again before it has settled. Rejects with `StoreUnavailable`; the next call catches up. */
  read(): Promise<void>;
}

/** Makes the memory forget existing links when any process changes them. */
export async function followChanges(
  store: Pick<LinkStore, "changes">,
  memory: Memory,
): Promise<ChangeReader> {
  // Start here: links that are cached from now on are read after this position.
  let { position } = await store.changes();
  return {
    async read() {
      let changes: Changes;
      do {
        changes = await store.changes(position);
        if (!changes.isComplete) memory.forgetAll();
        for (const code of changes.codes) memory.forget(code);
        ({ position } = changes);
      } while (changes.hasMore);
    },
  };
}
