import { pathOf } from "../http/url.ts";
import { MAX_PATH } from "../lib/bounds.ts";
import { parsePath } from "../links/terms/passed-path.ts";

/** The first segment of an address that continues after it, decoded. Undefined for others. */
export function codeBeforePath(request: Request): string | undefined {
  const [, first = ""] = /^\/([^/]+)\//.exec(pathOf(request)) ?? [];
  try {
    return decodeURIComponent(first) || undefined;
  } catch {
    return undefined;
  }
}

/** The path after the code in the address of a visit: "", or with its slash. Undefined if no link may pass it on. */
export function pathOfVisit(request: Request): string | undefined {
  const path = pathOf(request);
  const at = path.indexOf("/", 1);
  if (at < 0) return "";
  return path.length > MAX_PATH ? undefined : parsePath(path.slice(at));
}
