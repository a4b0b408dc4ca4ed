import { createHistogram, type Histogram, SECONDS } from "../lib/histogram.ts";
import { StoreUnavailable } from "../links/store.ts";

interface CommitLimits {
  /** Items that may wait for their commit. More are refused, so that waiting stays bounded in memory and time. */
  readonly waiting: number;
  /** Items in one transaction. */
  readonly batch: number;
  /**
   * Commits that may be under way. A further one begins only when a whole batch waits or the last one takes long, because
   * one large commit costs less than two small ones.
   */
  readonly atOnce?: number;
  /** In milliseconds. What has waited for longer when its turn comes is refused. */
  readonly waitMs?: number;
}

/** What commits have to tell to whoever watches them. */
export interface CommitFigures {
  /** Items that wait for their commit, or for its end. */
  waiting: number;
  /** Items that found no place to wait, or waited too long. */
  refused: number;
  /** Commits that failed. */
  failed: number;
  readonly items: Histogram;
  readonly seconds: Histogram;
}

const ITEMS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

function createCommitFigures(): CommitFigures {
  return {
    waiting: 0,
    refused: 0,
    failed: 0,
    items: createHistogram(ITEMS),
    seconds: createHistogram(SECONDS),
  };
}

/** What a store commits in groups. */
export interface StoreFigures {
  readonly links: CommitFigures;
  /** Links of requests that may be sent again. */
  readonly requests: CommitFigures;
  readonly updates: CommitFigures;
  readonly reports: CommitFigures;
}

export function createStoreFigures(): StoreFigures {
  return {
    links: createCommitFigures(),
    requests: createCommitFigures(),
    updates: createCommitFigures(),
    reports: createCommitFigures(),
  };
}

interface Waiting<Item, Outcome> {
  readonly items: readonly Item[];
  readonly sinceMs: number;
  resolve(outcomes: readonly Outcome[]): void;
  reject(reason: unknown): void;
}

/** A commit takes long after so many milliseconds. */
const LONG_MS = 50;

/**
 * The group commit: items that arrive while a commit is under way share the next one, so that one transaction and one sync
 * serve all of them. `commit` makes items durable in one transaction and returns the outcome of each; `sinceMs` is when
 * the first of them came, on the clock of `performance.now`. What waits takes one turn at a time, however much it is.
 */
export function createCommits<Item, Outcome>(
  { waiting: maxWaiting, batch: maxBatch, atOnce = 1, waitMs = Infinity }: CommitLimits,
  commit: (items: readonly Item[], sinceMs: number) => Promise<readonly Outcome[]>,
  figures = createCommitFigures(),
) {
  const waiting: Waiting<Item, Outcome>[] = [];
  const committing = new Set<Promise<void>>();
  /** That wait for their commit to begin, and that wait for it to end. */
  let unbegun = 0;
  let begun = 0;
  /** When the last commit began. */
  let begunMs = 0;

  function mayBegin(nowMs: number): boolean {
    if (committing.size === 0) return true;
    return committing.size < atOnce && (unbegun >= maxBatch || nowMs - begunMs > LONG_MS);
  }

  function begin(nowMs: number): void {
    begunMs = nowMs;
    const all: Promise<void> = commitAll(() => committing.delete(all));
    committing.add(all);
  }

  /** `onEnd` is called in the same turn in which nothing waits any more, so that what comes next begins anew. */
  async function commitAll(onEnd: () => void): Promise<void> {
    // Let the requests that are being read right now join the first batch.
    await new Promise(setImmediate);
    while (waiting.length > 0) {
      begunMs = performance.now();
      refuseLate();
      await commitBatch(takeBatch());
    }
    onEnd();
  }

  function refuseLate(): void {
    const inTime = waiting.findIndex(({ sinceMs }) => begunMs - sinceMs <= waitMs);
    for (const { items, reject } of waiting.splice(0, inTime === -1 ? waiting.length : inTime)) {
      unbegun -= items.length;
      figures.waiting -= items.length;
      figures.refused += items.length;
      reject(new StoreUnavailable("Waited too long for its commit"));
    }
  }

  /** At least one entry, if there is any, and as many more as fit. */
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
    const items = batch.flatMap((entry) => entry.items);
    const startMs = begunMs;
    unbegun -= items.length;
    begun += items.length;
    try {
      const [first] = batch;
      const outcomes = first === undefined ? [] : await commit(items, first.sinceMs);
      let at = 0;
      for (const entry of batch) {
        const end = at + entry.items.length;
        entry.resolve(outcomes.slice(at, end));
        at = end;
      }
    } catch (error) {
      figures.failed++;
      for (const { reject } of batch) reject(error);
    } finally {
      begun -= items.length;
      figures.waiting -= items.length;
      figures.items.observe(items.length);
      figures.seconds.observe((performance.now() - startMs) / 1000);
    }
  }

  return {
    add(items: readonly Item[]): Promise<readonly Outcome[]> {
      if (unbegun + begun + items.length > maxWaiting) {
        figures.refused += items.length;
        return Promise.reject(
          new StoreUnavailable(`${unbegun + begun} others already wait for their commit`),
        );
      }
      unbegun += items.length;
      figures.waiting += items.length;
      const sinceMs = performance.now();
      const outcomes = new Promise<readonly Outcome[]>((resolve, reject) =>
        waiting.push({ items, sinceMs, resolve, reject }),
      );
      if (mayBegin(sinceMs)) begin(sinceMs);
      return outcomes;
    },
    /** Resolves when nothing waits any more. */
    async settled(): Promise<void> {
      await Promise.all(committing);
    },
  };
}
