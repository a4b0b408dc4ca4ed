import { type Fields, hasTooManyPairs, MAX_FORWARDED_QUERY, MAX_PATH, parseFields } from "../lib/bounds.ts";
import { forwardsQuery, type Link } from "../links/link.ts";

/** Without a Host header (HTTP/1.0), `request.url` is only a path. "" for CONNECT, whose URL has no path. */
export function pathOf({ url }: Request): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
  if (start < 0) return "";
  const path = url.slice(start);
  const end = path.search(/[?#]/);
  return end < 0 ? path : path.slice(0, end);
}

/** The path without its slashes, percent-decoded once. Undecoded if it is ill-formed, cut if it is too long. */
export function writtenIn(request: Request): string {
  const path = pathOf(request)
    .slice(0, MAX_PATH)
    .replaceAll(/^\/|\/$/g, "");
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The parameters of the query. */
export function parametersOf(request: Request): Fields {
  return parseFields(queryOf(request).slice(1));
}

/** Includes the question mark. "" if there is no query, or one with too many parameters. */
export function queryOf({ url }: Request): string {
  const query = /\?[^#]*/.exec(url)?.[0] ?? "";
  return hasTooManyPairs(query) ? "" : query;
}

/** The visitor's query as sent, without the language. Choosing a language must not drop it if the link passes it on. */
export function visitorQuery(request: Request, link: Pick<Link, "terms">): string {
  const query = queryOf(request).slice(1);
  if (!forwardsQuery(link) || query.length > MAX_FORWARDED_QUERY) return "";
  return query
    .split("&")
    .filter((pair) => pair !== "" && !/^language(?:=|$)/.test(pair))
    .join("&");
}
