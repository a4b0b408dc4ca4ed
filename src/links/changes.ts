import type { Code } from "./code.ts";
import type { LinkStore } from "./store.ts";

/**
 * How far a reader has read the changes. Only the store that gave it can read it: one writer can number its commits,
 * but with many writers a number drawn before the commit is not in commit order.
 */
export type Position = string & { readonly __brand: "Position" };

export interface Changes {
  /** Where to go on from. */
  readonly position: Position;
  /** Codes whose link changed. A code may come more than once, and again after a later position: forgetting is idempotent. */
  readonly codes: readonly Code[];
  /** More changes are known already. */
  readonly hasMore: boolean;
  /** False where the store no longer has all changes since the reader's position: any link may have changed. */
  readonly isComplete: boolean;
}

/** Whoever remembers links. */
export interface Memory {
  forget(code: Code): void;
  forgetAll(): void;
}

export interface ChangeReader {
  /** Not to be called twice at a time. Rejects with `StoreUnavailable`; the next call catches up. */
  read(): Promise<void>;
}

/** Brings the changes that any process makes to existing links to a memory of this one. */
export async function followChanges(
  store: Pick<LinkStore, "changes">,
  memory: Memory,
): Promise<ChangeReader> {
  // What is remembered from now on was read after this position.
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
