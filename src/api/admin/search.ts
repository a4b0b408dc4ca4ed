// The operator's searches. The views thread searches in slices, and other views take turns with them.

import type { Call } from "../../http/call.ts";
import { parametersOf } from "../../http/url.ts";
import type { Views } from "../../http/views.ts";
import { targetHost } from "../../links/target.ts";
import type { Inspection, ListPage } from "../../moderation/inspection.ts";
import { type LinkQuery, SEARCH_FIELDS, type WrittenSearch } from "../../moderation/search.ts";
import type { AdminApiTask, SearchResult } from "./endpoint.ts";
// The operator's searches. The thread for views searches in slices, and other views take turns with them.

/** How long a request searches before it returns the links found so far. */
export const SEARCH_MS = 1000;
/** Ten million links take ten seconds, and longer on a busy machine. Bun allows a response 255 seconds. */
const SEARCH_ALL_MS = 240_000;
const ANSWER_SECONDS = 255;
/** The longest that other views wait for a slice. */
const SLICE_MS = 10;
/** The views thread reads links for a third of the time, so that redirects on the same core hardly wait. */
const PAUSE_MS = 1;
/** To change more links than that, block their host or search several times. */
export const MAX_CHANGED = 10_000;
/** Links in a slice. The serving thread parses them. */
const MAX_SLICE = 1000;

type Asking = Pick<Views, "ask">;

/** The fields of a search, "" where there is none. */
export function readSearch(request: Request): WrittenSearch {
  const query = parametersOf(request);
  return Object.fromEntries(SEARCH_FIELDS.map((field) => [field, query.get(field) ?? ""])) as WrittenSearch;
}

/** On the views thread: searches until the slice's time is over. */
export async function searchSlice(
  inspection: Pick<Inspection, "search">,
  query: LinkQuery,
  part: ListPage,
): Promise<SearchResult | Response> {
  return searchOn(SLICE_MS, part, async (next) => {
    const { links, ...rest } = await inspection.search(query, next);
    await Bun.sleep(PAUSE_MS);
    return {
      links: links.map(({ code, createdMs, target }) => ({ code, createdMs, host: targetHost(target) })),
      ...rest,
    };
  });
}

/** Searches until there are `limit` links or the time is over. Returns the thread's response if that is a problem. */
export async function searchLinks(
  views: Asking,
  call: Call,
  part: ListPage,
  maxMs = SEARCH_MS,
): Promise<SearchResult | Response> {
  return searchOn(maxMs, part, async ({ cursor, limit }) => {
    const task: AdminApiTask = { view: "search", part: { cursor, limit: Math.min(MAX_SLICE, limit) } };
    const response = await views.ask("adminApi", call, JSON.stringify(task));
    return response.ok ? ((await response.json()) as SearchResult) : response;
  });
}

async function searchOn(
  maxMs: number,
  { cursor, limit }: ListPage,
  look: (part: ListPage) => Promise<SearchResult | Response>,
): Promise<SearchResult | Response> {
  const untilMs = performance.now() + maxMs;
  const links: SearchResult["links"][number][] = [];
  for (let from = cursor; ;) {
    const result = await look({ cursor: from, limit: limit - links.length });
    if (result instanceof Response) return result;
    links.push(...result.links);
    from = result.cursor;
    if (from === undefined || links.length >= limit || performance.now() >= untilMs)
      return { ...result, links };
  }
}

/** All links that the search in a call's query finds. */
export async function searchAll(
  views: Asking,
  call: Call,
): Promise<SearchResult["links"] | { kind: "too-many"; max: number } | Response> {
  call.mayTake(ANSWER_SECONDS);
  const result = await searchLinks(views, call, { limit: MAX_CHANGED + 1 }, SEARCH_ALL_MS);
  if (result instanceof Response) return result;
  const isAll = result.cursor === undefined && result.links.length <= MAX_CHANGED;
  return isAll ? result.links : { kind: "too-many", max: MAX_CHANGED };
}
