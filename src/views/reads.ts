import type { LinkId } from "../links/link-store.ts";
import { isProblem } from "../links/problem.ts";
import { targetHost } from "../links/target.ts";
import type { Directory, DirectoryQuery, ListedLink } from "../moderation/directory.ts";
import type { Inspection, ListPage } from "../moderation/inspection.ts";
import { parseSearch, type WrittenSearch } from "../moderation/link-query.ts";
import type { RefusedDecision } from "../moderation/refusal.ts";

/** The links that a search has found so far. */
interface Found<Link> {
  readonly links: readonly Link[];
  readonly cursor?: string | undefined;
  readonly searched: number;
}

/** The operator's pages look the links up again. The host is that of the target; "" for a deleted link. */
export type SearchResult = Found<LinkId & { readonly host: string }>;

/** The longest that other views wait for a slice of a search. */
const SLICE_MS = 10;
/** The views thread reads links for a third of the time, so that redirects on the same core hardly wait. */
const PAUSE_MS = 1;

/** Reads on the views thread, as values for the serving thread. */
export interface Reads extends Pick<Inspection, "figures"> {
  /** Searches until the slice's time is over. */
  search(query: {
    readonly search: WrittenSearch;
    readonly page: ListPage;
  }): Promise<SearchResult | RefusedDecision>;
  /** Does the same for colleagues. */
  directory(query: DirectoryQuery & { readonly page: ListPage }): Promise<Found<ListedLink>>;
}

export function createReads(inspection: Pick<Inspection, "search" | "figures">, directory: Directory): Reads {
  return {
    async directory({ page, ...query }) {
      return repeatSearch<ListedLink, never>(SLICE_MS, page, async (next) => {
        const found = await directory(query, next);
        await Bun.sleep(PAUSE_MS);
        return found;
      });
    },

    figures: () => inspection.figures(),

    async search({ search, page }) {
      const query = parseSearch(search);
      if (isProblem(query)) return query;
      return repeatSearch<SearchResult["links"][number], RefusedDecision>(SLICE_MS, page, async (next) => {
        const { links, ...rest } = await inspection.search(query, next);
        await Bun.sleep(PAUSE_MS);
        return {
          links: links.map(({ code, createdMs, target }) => ({ code, createdMs, host: targetHost(target) })),
          ...rest,
        };
      });
    },
  };
}

/**
 * Searches until there are `limit` links or the time is over. It starts after the first part, because the thread may have to
 * start before it. Returns a refusal as it is.
 */
export async function repeatSearch<Link, Refusal extends { readonly kind: string }>(
  maxMs: number,
  { cursor, limit }: ListPage,
  search: (page: ListPage) => Promise<Found<Link> | Refusal>,
): Promise<Found<Link> | Refusal> {
  let untilMs: number | undefined;
  const links: Link[] = [];
  for (let from = cursor; ;) {
    const result = await search({ cursor: from, limit: limit - links.length });
    if ("kind" in result) return result;
    links.push(...result.links);
    from = result.cursor;
    if (from === undefined || links.length >= limit || performance.now() >= (untilMs ?? Infinity))
      return { ...result, links };
    untilMs ??= performance.now() + maxMs;
  }
}
