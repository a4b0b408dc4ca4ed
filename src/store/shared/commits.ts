import type { Each } from "../../lib/each.ts";
import { createHistogram, type Histogram, SECONDS } from "../../lib/histogram.ts";
import { StoreUnavailable } from "../../links/link-store.ts";

interface CommitLimits {
  /** Items that may wait for their commit. More are refused, so that waiting stays bounded in memory and time. */
  readonly waiting: number;
  /** Items in one transaction. */
  readonly batch: number;
  /**
   * Commits that may be in flight. Another one starts only when a whole batch waits or the last one takes long: one large
   * commit costs less than two small ones.
   */
  readonly atOnce?: number;
  /** Items that have waited longer than this (ms) when their turn comes are refused. */
  readonly waitMs?: number;
}

/** Figures about commits, for metrics. */
export interface CommitFigures {
  /** Items that wait for their commit, or for its end. */
  waiting: number;
  /** Items refused because too many waited, or because they waited too long. */
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

/** Figures of each group commit of a store. */
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

/** A commit that takes longer than this lets another one start. */
const LONG_MS = 50;
/** Turns of the event loop in which no item arrives, before a commit starts. Each takes some microseconds. */
const QUIET_TURNS = 2;

/**
 * The group commit: items that arrive while a commit is in flight share the next one. One transaction and one sync serve
 * all of them. `commit` makes items durable in one transaction and returns the outcome of each; `sinceMs` is when the first
 * of them arrived (`performance.now`). Items of one `add` always share a commit.
 */
export function createCommits<Item, Outcome>(
  { waiting: maxWaiting, batch: maxBatch, atOnce = 1, waitMs = Infinity }: CommitLimits,
  commit: (items: readonly Item[], sinceMs: number) => Promise<readonly Outcome[]>,
  figures = createCommitFigures(),
) {
  const waiting: Waiting<Item, Outcome>[] = [];
  const committing = new Set<Promise<void>>();
  /** Items whose commit has not started, and items in a commit that has not ended. */
  let queued = 0;
  let inFlight = 0;
  /** When the last commit started. */
  let startedMs = 0;

  function mayStart(nowMs: number): boolean {
    if (committing.size === 0) return true;
    return committing.size < atOnce && (queued >= maxBatch || nowMs - startedMs > LONG_MS);
  }

  function start(nowMs: number): void {
    startedMs = nowMs;
    const all: Promise<void> = commitAll(() => committing.delete(all));
    committing.add(all);
  }

  /** Calls `onEnd` in the turn in which the queue becomes empty, so that the next item starts a new commit. */
  async function commitAll(onEnd: () => void): Promise<void> {
    for (await gather(); waiting.length > 0; await gather()) {
      startedMs = performance.now();
      refuseLate();
      await commitBatch(takeBatch());
    }
    onEnd();
  }

  /**
   * Lets the requests that are being read right now join the batch. A commit and a sync cost more than several creates. After
   * a commit, clients send their next requests one by one, so only the second turn without any ends the batch.
   */
  async function gather(): Promise<void> {
    let before = 0;
    for (let quiet = 0; quiet < QUIET_TURNS && waiting.length < maxBatch;) {
      before = waiting.length;
      await new Promise(setImmediate);
      quiet = before < waiting.length ? 0 : quiet + 1;
    }
  }

  function refuseLate(): void {
    const inTime = waiting.findIndex(({ sinceMs }) => startedMs - sinceMs <= waitMs);
    for (const { items, reject } of waiting.splice(0, inTime === -1 ? waiting.length : inTime)) {
      queued -= items.length;
      figures.waiting -= items.length;
      figures.refused += items.length;
      reject(new StoreUnavailable("Waited too long for its commit"));
    }
  }

  /** The first entry, and as many more as fit. */
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
    const batchStartMs = startedMs;
    queued -= items.length;
    inFlight += items.length;
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
      inFlight -= items.length;
      figures.waiting -= items.length;
      figures.items.observe(items.length);
      figures.seconds.observe((performance.now() - batchStartMs) / 1000);
    }
  }

  return {
    add<const Items extends readonly Item[]>(items: Items): Promise<Each<Items, Outcome>> {
      if (queued + inFlight + items.length > maxWaiting) {
        figures.refused += items.length;
        return Promise.reject(
          new StoreUnavailable(`${queued + inFlight} others already wait for their commit`),
        );
      }
      queued += items.length;
      figures.waiting += items.length;
      const sinceMs = performance.now();
      const outcomes = new Promise<readonly Outcome[]>((resolve, reject) =>
        waiting.push({ items, sinceMs, resolve, reject }),
      );
      if (mayStart(sinceMs)) start(sinceMs);
      return outcomes as Promise<Each<Items, Outcome>>;
    },
    /** Resolves once all items are committed. */
    async settled(): Promise<void> {
      await Promise.all(committing);
    },
  };
}
