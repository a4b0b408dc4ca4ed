import type { Run, Statements } from "./connection/database.ts";

/** How long the number of links stays valid: every generated code needs it. */
const KNOWN_MS = 1000;

const ADD = "UPDATE link_count SET links = links + $1";
export const COUNT = "SELECT links AS count FROM link_count";

/**
 * Counts links. Creates don't wait for it: the difference is written once a second in the background. A killed process
 * loses its last second, and so does one whose write fails, since the outcome is unknown.
 */
export function createLinkCount({ run }: Pick<Statements, "run">, knownMs = KNOWN_MS) {
  let pending = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let known: { links: number; untilMs: number } | undefined;
  let refreshing: Promise<void> | undefined;
  let last: Promise<unknown> = Promise.resolve();

  /** Runs tasks one after the other, so that no read counts pending links twice. */
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
    /** Waits only for the first reading. */
    async size(): Promise<number> {
      if (known === undefined || performance.now() >= known.untilMs) {
        refreshing ??= inTurn(read).finally(() => (refreshing = undefined));
        if (known === undefined) await refreshing;
        else refreshing.catch(() => {});
      }
      return Math.max(0, (known?.links ?? 0) + pending);
    },
    /** Resolves once the creates and purges of this process are counted. */
    written: () => inTurn(write),
    /** Writes the rest. */
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
