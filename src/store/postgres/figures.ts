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
import type { GuardStore } from "../../moderation/store.ts";
import type { Run, Statements } from "./connection/database.ts";
import { readCount } from "./link-count.ts";

const DISABLED = `
  SELECT count(*) AS count FROM (SELECT FROM links WHERE disabled IS NOT NULL LIMIT ${MAX_COUNTED_DISABLED}) AS few`;
const BLOCKED_HOSTS = "SELECT count(*) AS count FROM hosts";
const NEWEST = `
  SELECT coalesce(target, original_url) AS target, 1 AS count FROM links ORDER BY created_ms DESC, code DESC LIMIT ${FIGURE_LINKS}`;
/** Each source has a row of the link. */
const VISITED = `
  WITH day AS MATERIALIZED (
    SELECT code, created_ms, visits FROM visits WHERE state = ANY ('{0,1}') AND day = $1 LIMIT ${FIGURE_LINKS}
  ), counted AS MATERIALIZED (
    SELECT code, created_ms, sum(visits)::bigint AS count FROM day GROUP BY code, created_ms
  )
  SELECT coalesce((SELECT coalesce(target, original_url) FROM links
    WHERE links.code = counted.code AND links.created_ms = counted.created_ms), '') AS target, count
  FROM counted`;
const COUNTERS = "SELECT day, name, count FROM counters WHERE day > $1 ORDER BY day";
/** Together they read some 20,000 rows. */
const LIMIT_MS = 5000;

interface Count {
  count: number;
}

/** The figures of the instance. */
export function createFigures(
  database: Pick<Statements & { within(limitMs: number): Statements }, "within">,
) {
  const { run } = database.within(LIMIT_MS);

  async function count(statement: string): Promise<number> {
    const { rows } = await run<Count>(statement);
    return rows[0]?.count ?? 0;
  }

  return {
    async figures(nowMs: number): Promise<Figures> {
      const today = Math.floor(nowMs / DAY_MS);
      return {
        links: await readCount(run),
        disabled: await count(DISABLED),
        blockedHosts: await count(BLOCKED_HOSTS),
        newestHosts: await hosts(run, NEWEST),
        visitedHosts: await hosts(run, VISITED, today),
        days: await days(run, today),
      };
    },
  } satisfies Pick<GuardStore, "figures">;
}

async function hosts(run: Run, statement: string, ...values: number[]) {
  const { rows } = await run<Count & { target: Target }>(statement, values);
  return topHosts(rows.map(({ target, count }) => ({ host: targetHost(target), count })));
}

async function days(run: Run, today: number): Promise<DayFigures[]> {
  const { rows } = await run<Count & { day: number; name: string }>(COUNTERS, [today - FIGURE_DAYS]);
  return [...Map.groupBy(rows, ({ day }) => day)].map(([day, counted]) => ({
    day,
    counts: Object.fromEntries(counted.map(({ name, count }) => [name, count])),
  }));
}
