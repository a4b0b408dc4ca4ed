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
  /** True if the rules about hosts changed, and with them possibly what any link answers. */
  readonly rules: boolean;
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
  /** Resolves when what was changed before the call is applied. Rejects with `StoreUnavailable`; the next call catches up. */
  read(): Promise<void>;
}

/**
 * Makes the memory forget existing links when any process changes them. When the rules about hosts change, they are read
 * first: whatever is looked up after the memory forgot is judged by the new ones.
 */
export async function followChanges(
  store: Pick<LinkStore, "changes">,
  memory: Memory,
  readRules: () => Promise<void>,
): Promise<ChangeReader> {
  // Start here: links that are cached from now on are read after this position, and so are the rules.
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
    /** One after the other, because each goes on from where the one before ended. */
    read() {
      last = last.catch(() => {}).then(readAll);
      return last;
    },
  };
}
