import { StoreUnavailable } from "../links/store.ts";

interface CommitLimits {
  /** Items that may wait for their commit. More are refused, so that waiting stays bounded in memory and time. */
  readonly waiting: number;
  /** Items in one transaction. */
  readonly batch: number;
}

interface Waiting<Item, Outcome> {
  readonly items: readonly Item[];
  readonly sinceMs: number;
  resolve(outcomes: readonly Outcome[]): void;
  reject(reason: unknown): void;
}

/**
 * The group commit: items that arrive while a commit is under way share the next one, so that one transaction and one sync
 * serve all of them. `commit` makes items durable in one transaction and returns the outcome of each; `sinceMs` is when
 * the first of them came, on the clock of `performance.now`. What waits takes one turn at a time, however much it is.
 */
export function createCommits<Item, Outcome>(
  { waiting: maxWaiting, batch: maxBatch }: CommitLimits,
  commit: (items: readonly Item[], sinceMs: number) => Promise<readonly Outcome[]>,
) {
  const waiting: Waiting<Item, Outcome>[] = [];
  let waitingItems = 0;
  let committing: Promise<void> | undefined;

  async function commitAll(): Promise<void> {
    // Let the requests that are being read right now join the first batch.
    await new Promise(setImmediate);
    while (waiting.length > 0) await commitBatch(takeBatch());
    committing = undefined;
  }

  /** At least one entry, and as many more as fit. */
  function takeBatch(): Waiting<Item, Outcome>[] {
    let items = 0;
    let count = 0;
    for (const entry of waiting) {
      items += entry.items.length;
      if (count > 0 && items > maxBatch) break;
      count++;
    }
    return waiting.splice(0, count);
  }

  async function commitBatch(batch: readonly Waiting<Item, Outcome>[]): Promise<void> {
    try {
      const items = batch.flatMap((entry) => entry.items);
      const outcomes = await commit(items, batch[0]?.sinceMs ?? performance.now());
      let at = 0;
      for (const entry of batch) {
        const end = at + entry.items.length;
        entry.resolve(outcomes.slice(at, end));
        at = end;
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      for (const { items } of batch) waitingItems -= items.length;
    }
  }

  return {
    add(items: readonly Item[]): Promise<readonly Outcome[]> {
      if (waitingItems + items.length > maxWaiting)
        return Promise.reject(new StoreUnavailable(`${waitingItems} others already wait for their commit`));
      waitingItems += items.length;
      const outcomes = new Promise<readonly Outcome[]>((resolve, reject) =>
        waiting.push({ items, sinceMs: performance.now(), resolve, reject }),
      );
      committing ??= commitAll();
      return outcomes;
    },
    /** Resolves when nothing waits any more. */
    settled: () => committing ?? Promise.resolve(),
  };
}
