import { leadsTo } from "../../guard/search.ts";
import { numberOf, sitesOf } from "../../guard/site.ts";
import type { Code } from "../../links/code.ts";
import type { Link } from "../../links/link.ts";
import type { LinkStore } from "../../links/store.ts";
import type { Target } from "../../links/target.ts";
import { createCommits } from "../commits.ts";
import { type Statements, WAIT_SHARE } from "./database.ts";
import { LINK_COLUMNS, type LinkRow, toLink } from "./link-row.ts";
import { inPart, OLDEST_PARTS } from "./search-steps.ts";
import { isStorable } from "./text.ts";

/** Look-ups that wait for each other share a round trip. A second one begins while the first takes long. */
const LOOK_UPS = { waiting: 10_000, batch: 200, atOnce: 3 };
/**
 * How many links tell whether a site is known: the oldest ones. Where many people share a site, as at github.io, others'
 * come first.
 */
const SITE_LINKS = 100;

/** And in so many parts of the index that have links: two years. A site that only newer links lead to counts as unknown. */
const SITE_PARTS = 1835;

const FIND = `SELECT ${LINK_COLUMNS} FROM links WHERE code = ANY ($1)`;
const OLDEST_OF_SITES = `
  SELECT found.target FROM (
    SELECT of_sites.* FROM (${OLDEST_PARTS} LIMIT ${SITE_PARTS}) AS parts, LATERAL (
      SELECT of_site.* FROM unnest($1::integer[]) AS asked (site), LATERAL (
        SELECT coalesce(target, original_url) AS target, disabled,
          coalesce((terms::json ->> 'changedMs')::bigint, created_ms) AS since_ms FROM links
        WHERE ${inPart("asked.site")} ORDER BY place LIMIT ${SITE_LINKS}) AS of_site) AS of_sites
    LIMIT ${SITE_LINKS}) AS found
  WHERE since_ms <= $2 AND disabled IS NULL AND strpos(found.target, $3) > 0`;

/** Look-ups. */
export function createLinksReader({ run, limitMs }: Pick<Statements, "run" | "limitMs">) {
  const lookUps = createCommits({ ...LOOK_UPS, waitMs: WAIT_SHARE * limitMs }, findAll);

  async function findAll(codes: readonly Code[]): Promise<(Link | undefined)[]> {
    const { rows } = await run<LinkRow>(FIND, [[...new Set(codes)]]);
    const found = new Map(rows.map((row) => [row.code, toLink(row)]));
    return codes.map((code) => found.get(code));
  }

  return {
    async find(code) {
      if (!isStorable(code)) return undefined;
      const [link] = await lookUps.add([code]);
      return link;
    },
    async hasLinked(domain, sinceMs) {
      const sites = sitesOf(domain) ?? [numberOf(domain)];
      const { rows } = await run<{ target: Target }>(OLDEST_OF_SITES, [sites, sinceMs, domain]);
      return rows.some(({ target }) => leadsTo(target, domain));
    },
  } satisfies Partial<LinkStore>;
}
