import type { Run, Statements } from "./connection/database.ts";

/** How long the number of links is taken as known: every generated code asks for it. */
const KNOWN_MS = 1000;

const ADD = "UPDATE link_count SET links = links + $1";
export const COUNT = "SELECT links AS count FROM link_count";

/**
 * Counts links. Creates do not wait for it: what was added or purged is written once a second, in the background. A process
 * that is killed loses its last second, and so does one whose write fails, since it cannot know whether it did.
 */
export function createLinkCount({ run }: Pick<Statements, "run">, knownMs = KNOWN_MS) {
  let pending = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let known: { links: number; untilMs: number } | undefined;
  let refreshing: Promise<void> | undefined;
  let last: Promise<unknown> = Promise.resolve();

  /** One after the other, so that nothing is counted twice for a moment. */
  function inTurn<T>(task: () => Promise<T>): Promise<T> {
    const result = last.then(task);
    last = result.catch(() => {});
    return result;
  }

  async function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (pending === 0) return;
    const links = pending;
    pending = 0;
    if (known !== undefined) known = { ...known, links: known.links + links };
    await addToCount(run, links);
  }

  async function read(): Promise<void> {
    known = { links: await readCount(run), untilMs: performance.now() + knownMs };
  }

  return {
    add(links: number): void {
      pending += links;
      timer ??= setTimeout(() => void inTurn(write).catch(() => {}), knownMs);
    },
    /** Waits only where nothing is known yet. */
    async size(): Promise<number> {
      if (known === undefined || performance.now() >= known.untilMs) {
        refreshing ??= inTurn(read).finally(() => (refreshing = undefined));
        if (known === undefined) await refreshing;
        else refreshing.catch(() => {});
      }
      return Math.max(0, (known?.links ?? 0) + pending);
    },
    /** Resolves when all that this process has made or purged is counted. */
    written: () => inTurn(write),
    /** Writes what is left. */
    close: () => inTurn(write).catch(() => {}),
  };
}

export async function addToCount(run: Run, links: number): Promise<void> {
  await run(ADD, [links]);
}

async function readCount(run: Run): Promise<number> {
  const { rows } = await run<{ count: number }>(COUNT);
  return Math.max(0, rows[0]?.count ?? 0);
}

export type LinkCount = ReturnType<typeof createLinkCount>;
