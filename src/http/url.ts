/** `request.url` is a bare path without a Host (HTTP/1.0) and has none at all for CONNECT. */
export function pathOf({ url }: Request): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
  const [path = ""] = url.slice(start).split(/[?#]/, 1);
  return start < 0 ? "" : path;
}

/** With its question mark; empty where there is none. */
export function queryOf({ url }: Request): string {
  return /\?[^#]*/.exec(url)?.[0] ?? "";
}
