// The figures of the instance, on the reader's connection.
import type { Database } from "bun:sqlite";

import {
  type DayFigures,
  FIGURE_DAYS,
  FIGURE_LINKS,
  type Figures,
  MAX_COUNTED_DISABLED,
  topHosts,
} from "../../guard/figures.ts";
import { type Target, targetHost } from "../../links/target.ts";
import { DAY_MS } from "../../links/time.ts";
import { BLOCK_LINKS, type Ends, ENDS } from "./sites.ts";

/** Links that are not in a block yet, and blocks of which some links are too old. */
const MAX_COUNTED = 20_000;
const MAX_PARTIAL = 8;

const DISABLED = `
  SELECT count(*) AS count FROM (SELECT 1 FROM links WHERE disabled IS NOT NULL LIMIT ${MAX_COUNTED_DISABLED})`;
const BLOCKED_HOSTS = "SELECT count(*) AS count FROM hosts";
const WHOLE_BLOCKS = `SELECT count(*) * ${BLOCK_LINKS} AS count FROM blocks WHERE oldest_ms >= ?1`;
const PARTIAL_BLOCKS = `SELECT block FROM blocks WHERE oldest_ms < ?1 AND newest_ms >= ?1 LIMIT ${MAX_PARTIAL}`;
const MADE = "SELECT count(*) AS count FROM links WHERE rowid BETWEEN ?1 AND ?2 AND created_ms >= ?3";
const NEWEST = `
  SELECT coalesce(target, original_url) AS target, 1 AS count FROM links ORDER BY rowid DESC LIMIT ${FIGURE_LINKS}`;
const VISITED = `
  SELECT coalesce((SELECT coalesce(target, original_url) FROM links
    WHERE links.code = day.code AND links.created_ms = day.created_ms), '') AS target, visits AS count
  FROM (SELECT code, created_ms, visits FROM visits WHERE day = ?1 LIMIT ${FIGURE_LINKS}) AS day`;
const COUNTERS = "SELECT day, name, count FROM counters WHERE day > ?1 ORDER BY day";

interface Count {
  count: number;
}

export function prepareFigures(database: Database) {
  const ends = database.prepare<Ends, []>(ENDS);
  const disabled = database.prepare<Count, []>(DISABLED);
  const blockedHosts = database.prepare<Count, []>(BLOCKED_HOSTS);
  const wholeBlocks = database.prepare<Count, [number]>(WHOLE_BLOCKS);
  const partialBlocks = database.prepare<{ block: number }, [number]>(PARTIAL_BLOCKS);
  const made = database.prepare<Count, [number, number, number]>(MADE);
  const newest = database.prepare<Count & { target: Target }, []>(NEWEST);
  const visited = database.prepare<Count & { target: Target }, [number]>(VISITED);
  const counters = database.prepare<Count & { day: number; name: string }, [number]>(COUNTERS);

  function madeSince(ms: number, { newest: newestLink, unindexed }: Ends): number {
    const from = Math.max(unindexed, newestLink - MAX_COUNTED);
    const ranges = partialBlocks.all(ms).map(({ block }) => [block * BLOCK_LINKS, BLOCK_LINKS] as const);
    const counts = [...ranges, [from, MAX_COUNTED + 1] as const].map(
      ([first, length]) => made.get(first, first + length - 1, ms)?.count ?? 0,
    );
    return counts.reduce((sum, count) => sum + count, wholeBlocks.get(ms)?.count ?? 0);
  }

  function days(today: number): DayFigures[] {
    const byDay = Map.groupBy(counters.all(today - FIGURE_DAYS), ({ day }) => day);
    return [...byDay].map(([day, rows]) => ({
      day,
      counts: Object.fromEntries(rows.map(({ name, count }) => [name, count])),
    }));
  }

  const byHost = (rows: readonly (Count & { target: Target })[]) =>
    topHosts(rows.map(({ target, count }) => ({ host: targetHost(target), count })));

  return {
    figures(nowMs: number): Figures {
      const known = ends.get() ?? { newest: 0, unindexed: 0 };
      const today = Math.floor(nowMs / DAY_MS);
      return {
        links: known.newest,
        madeInDay: Math.min(known.newest, madeSince(nowMs - DAY_MS, known)),
        madeInWeek: Math.min(known.newest, madeSince(nowMs - 7 * DAY_MS, known)),
        disabled: disabled.get()?.count ?? 0,
        blockedHosts: blockedHosts.get()?.count ?? 0,
        newestHosts: byHost(newest.all()),
        visitedHosts: byHost(visited.all(today)),
        days: days(today),
      };
    },
    close() {
      const counting = [disabled, blockedHosts, wholeBlocks, partialBlocks, made];
      for (const statement of [ends, ...counting, newest, visited, counters]) statement.finalize();
    },
  };
}
