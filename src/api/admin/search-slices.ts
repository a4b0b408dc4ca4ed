// The operator's searches. The views thread searches in slices, and other views take turns with them.
import type { Call } from "../../http/call.ts";
import { parametersOf } from "../../http/url.ts";
import type { LinkId } from "../../links/link-store.ts";
import type { ListPage } from "../../moderation/inspection.ts";
import { SEARCH_FIELDS, type WrittenSearch } from "../../moderation/link-query.ts";
import { repeatSearch } from "../../views/reads.ts";
import type { Views } from "../../views/views.ts";

/** How long a request searches before it returns the links found so far. */
export const SEARCH_MS = 1000;
/** Ten million links take ten seconds, and longer on a busy machine. Bun allows a response 255 seconds. */
const SEARCH_ALL_MS = 240_000;
const ANSWER_SECONDS = 255;
/** To change more links than that, block their host or search several times. */
export const MAX_CHANGED = 10_000;
/** Links in a slice. They are copied to the serving thread. */
const MAX_SLICE = 1000;

/** The fields of a search, "" where there is none. */
export function readSearch(request: Request): WrittenSearch {
  const query = parametersOf(request);
  return Object.fromEntries(SEARCH_FIELDS.map((field) => [field, query.get(field) ?? ""])) as WrittenSearch;
}

/** Searches until there are `limit` links or the time is over. */
export function searchLinks(
  views: Pick<Views, "read">,
  search: WrittenSearch,
  page: ListPage,
  maxMs = SEARCH_MS,
) {
  return repeatSearch(maxMs, page, ({ cursor, limit }) =>
    views.read("search", { search, page: { cursor, limit: Math.min(MAX_SLICE, limit) } }),
  );
}

/** The links that an operator saw. */
interface SeenLinks {
  readonly count: number;
  /** When the newest one was created. */
  readonly untilMs: number;
}

/**
 * All links that the search in a call's query finds, or those that the operator has seen: links that were created since
 * don't count, so makers can't hold up a decision by creating more. Returns a problem if there are more or fewer now.
 */
export async function searchAll(views: Pick<Views, "read">, call: Call, seen?: SeenLinks) {
  call.mayTake(ANSWER_SECONDS);
  const result = await searchLinks(
    views,
    readSearch(call.request),
    // Leaves room for links that were created since.
    { limit: (seen === undefined ? 1 : 2) * MAX_CHANGED + 1 },
    SEARCH_ALL_MS,
  );
  if ("kind" in result) return result;
  const links = result.links.filter(({ createdMs }) => createdMs <= (seen?.untilMs ?? Infinity));
  if (result.cursor !== undefined || links.length > MAX_CHANGED)
    return { kind: "too-many", max: MAX_CHANGED } as const;
  if (seen !== undefined && seen.count !== links.length)
    return { kind: "other-count", count: links.length, links } as const;
  return links;
}

/** When the newest link was created, to confirm a decision about all of them. */
export function newestMs(links: readonly Pick<LinkId, "createdMs">[]): number {
  return links.reduce((newest, { createdMs }) => Math.max(newest, createdMs), 0);
}
