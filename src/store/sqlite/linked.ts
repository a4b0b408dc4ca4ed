import type { Database } from "bun:sqlite";

import { leadsTo } from "../../guard/search.ts";
import type { Target } from "../../links/target.ts";
import { type Ends, ENDS, numberOf, sitesOf } from "./sites.ts";

/** What one question looks at, in rows. It is asked on the thread that serves, where this takes half a millisecond. */
const BOUNDS = {
  /** Oldest links of a site. Where many people share a site, as at github.io, other links than theirs come first. */
  told: 100,
  /** Links that are not in the index yet. */
  walked: 1000,
};

const BY_SITE = `
  SELECT coalesce(target, original_url) AS target
  FROM (SELECT link FROM sites WHERE site = ?1 ORDER BY link LIMIT ?3) CROSS JOIN links ON links.rowid = link
  WHERE created_ms <= ?2 AND disabled IS NULL`;
const WALK = `
  SELECT coalesce(target, original_url) AS target FROM links
  WHERE rowid BETWEEN ?1 AND ?1 + ?3 AND created_ms <= ?2 AND disabled IS NULL`;

/** Tells whether older links lead to a domain. Links that were disabled speak for no domain. */
export function prepareLinked(database: Database, bounds = BOUNDS) {
  const ends = database.prepare<Ends, []>(ENDS);
  const bySite = database.prepare<{ target: Target }, [number, number, number]>(BY_SITE);
  const walk = database.prepare<{ target: Target }, [number, number, number]>(WALK);

  function* linksOf(domain: string, createdByMs: number) {
    for (const site of sitesOf(domain) ?? [numberOf(domain)])
      yield* bySite.iterate(site, createdByMs, bounds.told);
    yield* walk.iterate(ends.get()?.unindexed ?? 0, createdByMs, bounds.walked);
  }

  return {
    hasLinked(domain: string, createdByMs: number): boolean {
      // Stops at the first: it is the oldest, and usually leads there.
      for (const { target } of linksOf(domain, createdByMs)) if (leadsTo(target, domain)) return true;
      return false;
    },
    close() {
      for (const statement of [ends, bySite, walk]) statement.finalize();
    },
  };
}
