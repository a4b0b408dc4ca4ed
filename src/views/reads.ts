import type { LinkId } from "../links/link-store.ts";
import { isProblem } from "../links/problem.ts";
import { targetHost } from "../links/target.ts";
import type { Inspection, ListPage } from "../moderation/inspection.ts";
import { parseSearch, type WrittenSearch } from "../moderation/link-query.ts";
import type { RefusedDecision } from "../moderation/refusal.ts";

/** The links that a search has found so far. Pages look them up again. */
export interface SearchResult {
  /** The host is that of the target; "" for a deleted link. */
  readonly links: readonly (LinkId & { readonly host: string })[];
  readonly cursor?: string | undefined;
  readonly searched: number;
}

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
}

export function createReads(inspection: Pick<Inspection, "search" | "figures">): Reads {
  return {
    figures: () => inspection.figures(),

    async search({ search, page }) {
      const query = parseSearch(search);
      if (isProblem(query)) return query;
      return repeatSearch<RefusedDecision>(SLICE_MS, page, async (next) => {
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

/** Searches until there are `limit` links or the time is over. Returns a refusal as it is. */
export async function repeatSearch<Refusal extends { readonly kind: string }>(
  maxMs: number,
  { cursor, limit }: ListPage,
  search: (page: ListPage) => Promise<SearchResult | Refusal>,
): Promise<SearchResult | Refusal> {
  const untilMs = performance.now() + maxMs;
  const links: SearchResult["links"][number][] = [];
  for (let from = cursor; ;) {
    const result = await search({ cursor: from, limit: limit - links.length });
    if ("kind" in result) return result;
    links.push(...result.links);
    from = result.cursor;
    if (from === undefined || links.length >= limit || performance.now() >= untilMs)
      return { ...result, links };
  }
}
