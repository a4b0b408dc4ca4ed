/** Rowids per slice, and slices per count. Creates wait about 15 ms for a count. */
const SLICE = 1000;
const SLICES = 200;

/** Counts links, because purges leave free rowids. Exact up to 200,000 rowids, beyond that an estimate from evenly spread slices. */
export const COUNT = `
  WITH RECURSIVE newest (top) AS (SELECT coalesce(max(rowid), 0) FROM links),
    slices (first) AS (
      SELECT 1 UNION ALL
      SELECT first + max(${SLICE}, top / ${SLICES}) FROM slices, newest WHERE first + max(${SLICE}, top / ${SLICES}) <= top)
  SELECT max(top) AS top, CAST(round(total(found) * max(top) / max(1, total(seen))) AS INTEGER) AS count
  FROM (SELECT top, min(${SLICE}, top + 1 - first) AS seen,
      (SELECT count(*) FROM links WHERE rowid >= first AND rowid < first + ${SLICE}) AS found
    FROM slices, newest)`;

/** How long the newest rowid stays valid: every generated code needs the number of links. */
const NEWEST_KNOWN_MS = 1000;
/** How many times longer a count stays valid. */
const COUNT_KNOWN = 60;

/**
 * The number of links: the newest rowid, which is cheap to read, minus the free ones of the last count. Counts again soon after a
 * purge, and regularly, because other processes purge as well, and reused codes leave free rowids.
 */
export function createLinkCount(
  newestRowid: () => number,
  count: () => Promise<{ top: number; count: number }>,
  newestKnownMs = NEWEST_KNOWN_MS,
) {
  let free = 0;
  let newest = 0;
  let newestUntilMs = 0;
  let counting: ReturnType<typeof setTimeout> | undefined;

  async function recount(): Promise<void> {
    clearTimeout(counting);
    counting = undefined;
    try {
      const counted = await count();
      free = counted.top - counted.count;
    } catch {
      // The last count stays valid.
    }
  }
  void recount();
  const repeating = setInterval(() => void recount(), COUNT_KNOWN * Math.max(newestKnownMs, 20));

  return {
    size(): number {
      const nowMs = performance.now();
      if (nowMs >= newestUntilMs) {
        newest = newestRowid();
        newestUntilMs = nowMs + newestKnownMs;
      }
      return Math.max(0, newest - free);
    },
    countSoon(): void {
      counting ??= setTimeout(() => void recount(), newestKnownMs);
    },
    close(): void {
      clearTimeout(counting);
      clearInterval(repeating);
    },
  };
}
