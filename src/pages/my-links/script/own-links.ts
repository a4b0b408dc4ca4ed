import { callApi, type Link } from "../../shared/script.ts";
import { type SavedLink, statusOf } from "./saved-links.ts";

/** The links per page, and the most pages: the list shows the newest 2,000. */
const LIMIT = 200;
const MAX_PAGES = 10;

type OwnLink = Link & { readonly code: string };
interface OwnPage {
  readonly links: readonly OwnLink[];
  /** Null on the last page. */
  readonly cursor: string | null;
}

/** The links of the person whom the proxy names, page by page. This browser doesn't store them. */
export async function* loadOwnLinks(): AsyncGenerator<readonly SavedLink[]> {
  let cursor: string | null = "";
  for (let nth = 0; nth < MAX_PAGES && cursor !== null; nth++) {
    const query: URLSearchParams = new URLSearchParams({ owner: "me", limit: String(LIMIT), cursor });
    const { data } = await callApi<OwnPage>(`/api/v1/links?${query}`);
    if (data === undefined) return;
    yield data.links.map(savedOf);
    ({ cursor } = data);
  }
}

function savedOf(link: OwnLink): SavedLink {
  const { code, created_at: created, target, title } = link;
  return {
    path: `/api/v1/links/${encodeURIComponent(code)}`,
    created,
    target: target ?? undefined,
    title: title ?? undefined,
    isOwn: true,
    status: statusOf(link),
  };
}

/** Each link once, the latest first. Only this browser knows the key of a link. */
export function withOwn(saved: readonly SavedLink[], own: readonly SavedLink[]): SavedLink[] {
  if (own.length === 0) return [...saved];
  const byPath = new Map(own.map((one) => [one.path, one]));
  for (const one of saved) {
    const { created, ...known } = byPath.get(one.path) ?? {};
    byPath.set(one.path, created === one.created ? { ...one, ...known } : one);
  }
  return [...byPath.values()].toSorted((one, other) => (one.created < other.created ? 1 : -1));
}
