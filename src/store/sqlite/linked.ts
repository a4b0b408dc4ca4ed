import type { Database } from "bun:sqlite";

import { leadsTo } from "../../guard/search.ts";
import { numberOf, sitesOf } from "../../guard/site.ts";
import type { Target } from "../../links/target.ts";
import { type Ends, ENDS, partOf, prepareSitesReader } from "./sites.ts";

/** What one question looks at. It is asked on the thread that serves, where this takes a millisecond at most. */
const BOUNDS = {
  /** Parts of the index: 500 are 16 million links. A site that only newer ones lead to counts as unknown. */
  parts: 500,
  /** Rows: the oldest links of a site. Where many people share a site, as at github.io, other links than theirs come first. */
  told: 100,
  /** Rows that are not in the index yet. */
  walked: 1000,
};

/** Since when a link leads there. */
const SINCE = "coalesce(terms ->> '$.changedMs', created_ms)";
const LINK = `
  SELECT coalesce(target, original_url) AS target FROM links
  WHERE rowid = ?1 AND ${SINCE} <= ?2 AND disabled IS NULL`;
const WALK = `
  SELECT coalesce(target, original_url) AS target FROM links
  WHERE rowid BETWEEN ?1 AND ?1 + ?3 AND ${SINCE} <= ?2 AND disabled IS NULL`;

/** Tells whether older links lead to a domain, and did before. Links that were disabled speak for no domain. */
export function prepareLinked(database: Database, bounds = BOUNDS) {
  const ends = database.prepare<Ends, []>(ENDS);
  const bySite = prepareSitesReader(database);
  const link = database.prepare<{ target: Target }, [number, number]>(LINK);
  const walk = database.prepare<{ target: Target }, [number, number, number]>(WALK);

  function* linksOf(domain: string, sinceMs: number) {
    const unindexed = ends.get()?.unindexed ?? 0;
    const parts = Math.min(partOf(unindexed) + 1, bounds.parts);
    const sites = sitesOf(domain) ?? [numberOf(domain)];
    for (const rowid of bySite.oldest(sites, parts, bounds.told)) yield* link.all(rowid, sinceMs);
    yield* walk.iterate(unindexed, sinceMs, bounds.walked);
  }

  return {
    hasLinked(domain: string, sinceMs: number): boolean {
      // Stops at the first: it is the oldest, and usually leads there.
      for (const { target } of linksOf(domain, sinceMs)) if (leadsTo(target, domain)) return true;
      return false;
    },
    close() {
      bySite.close();
      for (const statement of [ends, link, walk]) statement.finalize();
    },
  };
}
