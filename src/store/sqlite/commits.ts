import type { Link } from "../../links/link.ts";
import { type LinkStore, type NewLink, StoreUnavailable } from "../../links/store.ts";

/** Links that wait for their commit. More are refused, so that waiting stays bounded in memory and time. */
const MAX_WAITING_LINKS = 10_000;
/** Links in one transaction. */
const MAX_BATCH_LINKS = 1000;

interface Waiting {
  readonly links: readonly NewLink[];
  readonly sinceMs: number;
  resolve(outcomes: Awaited<ReturnType<LinkStore["insert"]>>): void;
  reject(reason: unknown): void;
}

/**
 * The group commit: inserts that arrive while a commit is under way share the next one, so that one transaction and
 * one sync serve all of them. `commit` makes links durable in one transaction and says which of them were inserted;
 * `sinceMs` is when the first of them came, on the clock of `performance.now`.
 */
export function createCommits(
  commit: (links: readonly NewLink[], sinceMs: number) => Promise<readonly boolean[]>,
) {
  const waiting: Waiting[] = [];
  let waitingLinks = 0;
  let committing: Promise<void> | undefined;

  async function commitAll(): Promise<void> {
    // Let the requests that are being read right now join the first batch.
    await new Promise(setImmediate);
    while (waiting.length > 0) await commitBatch(takeBatch());
    committing = undefined;
  }

  /** At least one entry, and as many more as fit. */
  function takeBatch(): Waiting[] {
    let links = 0;
    let count = 0;
    for (const entry of waiting) {
      links += entry.links.length;
      if (count > 0 && links > MAX_BATCH_LINKS) break;
      count++;
    }
    return waiting.splice(0, count);
  }

  async function commitBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const links = batch.flatMap((entry) => entry.links);
      const inserted = await commit(links, batch[0]?.sinceMs ?? performance.now());
      let at = 0;
      for (const entry of batch) {
        entry.resolve(entry.links.map((link) => (inserted[at++] ? withoutHold(link) : { kind: "taken" })));
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      for (const { links } of batch) waitingLinks -= links.length;
    }
  }

  return {
    insert: ((links) => {
      if (waitingLinks + links.length > MAX_WAITING_LINKS) {
        return Promise.reject(new StoreUnavailable(`${waitingLinks} links already wait for their commit`));
      }
      waitingLinks += links.length;
      const outcomes = new Promise<Awaited<ReturnType<LinkStore["insert"]>>>((resolve, reject) =>
        waiting.push({ links, sinceMs: performance.now(), resolve, reject }),
      );
      committing ??= commitAll();
      return outcomes;
    }) satisfies LinkStore["insert"],
    /** Resolves when nothing waits any more. */
    settled: () => committing ?? Promise.resolve(),
  };
}

function withoutHold(newLink: NewLink): Link {
  const { freeIfEndedByMs: _, ...link } = newLink;
  return link;
}
