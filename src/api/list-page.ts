import { type Malformed, malformed } from "../http/problems.ts";
import { parametersOf } from "../http/url.ts";
import type { ListPage } from "../moderation/inspection.ts";

export const LIMIT = { min: 1, max: 200 };
export const DEFAULT_LIMIT = 50;

/** Reads which page of a list is requested. */
export function readListPage(request: Request): ListPage | Malformed {
  const query = parametersOf(request);
  const cursor = query.get("cursor") || undefined;
  const written = query.get("limit") || String(DEFAULT_LIMIT);
  const limit = /^\d{1,9}$/.test(written) ? Number(written) : Number.NaN;
  return limit >= LIMIT.min && limit <= LIMIT.max
    ? { cursor, limit }
    : malformed({ rule: "query.range", field: "limit", ...LIMIT });
}
