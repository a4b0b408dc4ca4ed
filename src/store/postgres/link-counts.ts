import type { Link } from "../../links/link.ts";
import { HOUR_MS } from "../../links/time.ts";
import type { Run, Statements } from "./database.ts";

/** How long the number of links is taken as known: every generated code asks for it. */
const KNOWN_MS = 1000;

const ADD = `
  INSERT INTO link_counts AS known (hour, links)
  SELECT hour, links FROM unnest($1::integer[], $2::bigint[]) AS added (hour, links) ORDER BY hour
  ON CONFLICT (hour) DO UPDATE SET links = known.links + excluded.links`;
const SUM = "SELECT coalesce(sum(links), 0)::bigint AS links FROM link_counts WHERE hour >= $1";
/**
 * Hours that are long over become one row. They are locked in their order, as they are by ADD: an import adds to many old hours,
 * and the two would end in a deadlock otherwise.
 */
const MERGE = `
  WITH old AS (
    DELETE FROM link_counts WHERE hour = ANY (ARRAY(
      SELECT hour FROM link_counts WHERE hour BETWEEN 1 AND $1 ORDER BY hour FOR UPDATE)) RETURNING links
  )
  INSERT INTO link_counts AS known (hour, links)
  SELECT 0, sum(links) FROM old HAVING count(*) > 0
  ON CONFLICT (hour) DO UPDATE SET links = known.links + excluded.links`;

/**
 * Counts links by the hour in which they were made. Creates do not wait for it: what was added or purged is written once
 * a second, in the background. A process that is killed loses its last second, and so does one whose write fails, since
 * it cannot know whether it did.
 */
export function createLinkCounts({ run }: Pick<Statements, "run">, knownMs = KNOWN_MS) {
  let pending = new Map<number, number>();
  let pendingLinks = 0;
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
    if (pending.size === 0) return;
    const [counts, links] = [pending, pendingLinks];
    [pending, pendingLinks] = [new Map(), 0];
    if (known !== undefined) known = { ...known, links: known.links + links };
    await addCounts(run, counts);
  }

  async function read(): Promise<void> {
    known = { links: await linksSince(run, 0), untilMs: performance.now() + knownMs };
  }

  return {
    add(createdMs: number, links: number): void {
      const hour = hourOf(createdMs);
      pending.set(hour, (pending.get(hour) ?? 0) + links);
      pendingLinks += links;
      timer ??= setTimeout(() => void inTurn(write).catch(() => {}), knownMs);
    },
    /** Waits only where nothing is known yet. */
    async size(): Promise<number> {
      if (known === undefined || performance.now() >= known.untilMs) {
        refreshing ??= inTurn(read).finally(() => (refreshing = undefined));
        if (known === undefined) await refreshing;
        else refreshing.catch(() => {});
      }
      return Math.max(0, (known?.links ?? 0) + pendingLinks);
    },
    /** Resolves when all that this process has made or purged is counted. */
    written: () => inTurn(write),
    /** Adds up what was made before this hour. */
    merge: (beforeMs: number, background: Pick<Statements, "run">) =>
      background.run(MERGE, [hourOf(beforeMs) - 1]),
    /** Writes what is left. */
    close: () => inTurn(write).catch(() => {}),
  };
}

export async function addCounts(run: Run, counts: ReadonlyMap<number, number>): Promise<void> {
  await run(ADD, [[...counts.keys()], [...counts.values()]]);
}

export function countByHour(links: readonly Pick<Link, "createdMs">[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { createdMs } of links) counts.set(hourOf(createdMs), (counts.get(hourOf(createdMs)) ?? 0) + 1);
  return counts;
}

/** About how many links were made since then, by whole hours. */
export async function linksSince(run: Run, ms: number): Promise<number> {
  const { rows } = await run<{ links: number }>(SUM, [hourOf(ms)]);
  return Math.max(0, rows[0]?.links ?? 0);
}

export type LinkCounts = ReturnType<typeof createLinkCounts>;

/** Links may say that they were made long ago. */
function hourOf(ms: number): number {
  return Math.max(0, Math.floor(ms / HOUR_MS));
}
