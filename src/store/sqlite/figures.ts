// The figures of the instance, on the reader's connection.
import type { Database } from "bun:sqlite";

import { type Target, targetHost } from "../../links/target.ts";
import { DAY_MS } from "../../links/time.ts";
import {
  type DayFigures,
  FIGURE_DAYS,
  FIGURE_LINKS,
  type Figures,
  MAX_COUNTED_DISABLED,
  topHosts,
} from "../../moderation/figures.ts";

const DISABLED = `
  SELECT count(*) AS count FROM (SELECT 1 FROM links WHERE disabled IS NOT NULL LIMIT ${MAX_COUNTED_DISABLED})`;
const LINKS = "SELECT coalesce(max(rowid), 0) AS count FROM links";
const BLOCKED_HOSTS = "SELECT count(*) AS count FROM hosts";
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
  const links = database.prepare<Count, []>(LINKS);
  const disabled = database.prepare<Count, []>(DISABLED);
  const blockedHosts = database.prepare<Count, []>(BLOCKED_HOSTS);
  const newest = database.prepare<Count & { target: Target }, []>(NEWEST);
  const visited = database.prepare<Count & { target: Target }, [number]>(VISITED);
  const counters = database.prepare<Count & { day: number; name: string }, [number]>(COUNTERS);

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
      const today = Math.floor(nowMs / DAY_MS);
      return {
        links: links.get()?.count ?? 0,
        disabled: disabled.get()?.count ?? 0,
        blockedHosts: blockedHosts.get()?.count ?? 0,
        newestHosts: byHost(newest.all()),
        visitedHosts: byHost(visited.all(today)),
        days: days(today),
      };
    },
    close() {
      for (const statement of [links, disabled, blockedHosts, newest, visited, counters])
        statement.finalize();
    },
  };
}
