// The operator's searches. The thread for views searches in slices, and other views take turns with them.
import type { Part } from "../../../guard/inspection.ts";
import type { LinkId } from "../../../links/store.ts";
import type { Call } from "../../call.ts";
import type { Views } from "../../views/views.ts";
import type { AdminApiTask } from "./views.ts";

/** How long a request searches before it shows what it has found. */
const SEARCH_MS = 1000;
/** Ten million links take ten seconds, and longer on a busy machine. Bun allows no more. */
const SEARCH_ALL_SECONDS = 255;
/** More links than that are changed by blocking their host, or in several searches. */
const MAX_CHANGED = 10_000;
/** Links of a slice: the serving thread reads them. */
const MAX_SLICE = 1000;

/** What is found so far. The links are looked up again when they are shown. */
export interface SearchResult {
  /** The host is that of the target; "" for a deleted link. */
  readonly links: readonly (LinkId & { readonly host: string })[];
  readonly cursor?: string | undefined;
  readonly searched: number;
}

type Asking = Pick<Views, "ask">;

/** Searches until there are `limit` links, or the time is over. Returns the thread's response if that is a problem. */
export async function searchLinks(
  views: Asking,
  call: Call,
  { cursor, limit }: Part,
  maxMs = SEARCH_MS,
): Promise<SearchResult | Response> {
  const untilMs = performance.now() + maxMs;
  const links: SearchResult["links"][number][] = [];
  for (let from = cursor; ;) {
    const part = { cursor: from, limit: Math.min(MAX_SLICE, limit - links.length) };
    const task: AdminApiTask = { view: "search", part };
    const response = await views.ask("adminApi", call, JSON.stringify(task));
    if (!response.ok) return response;
    const slice = (await response.json()) as SearchResult;
    links.push(...slice.links);
    if (slice.cursor === undefined || links.length >= limit || performance.now() >= untilMs)
      return { ...slice, links };
    from = slice.cursor;
  }
}

/** All links that the search in a call's query finds. */
export async function searchAll(
  views: Asking,
  call: Call,
): Promise<SearchResult["links"] | { kind: "too-many"; max: number } | Response> {
  call.mayTake(SEARCH_ALL_SECONDS);
  const result = await searchLinks(views, call, { limit: MAX_CHANGED + 1 }, SEARCH_ALL_SECONDS * 1000);
  if (result instanceof Response) return result;
  const isAll = result.cursor === undefined && result.links.length <= MAX_CHANGED;
  return isAll ? result.links : { kind: "too-many", max: MAX_CHANGED };
}
