import type { ListPage } from "../../../moderation/inspection.ts";
import { SEARCH_FIELDS, type WrittenSearch } from "../../../moderation/search.ts";
import { type Malformed, malformed } from "../../problems.ts";
import { queryOf } from "../../url.ts";

const LIMIT = { min: 1, max: 200 };
const USUAL_LIMIT = 50;

/** The fields of a search, "" where there is none. */
export function writtenSearch(request: Request): WrittenSearch {
  const query = new URLSearchParams(queryOf(request));
  return Object.fromEntries(SEARCH_FIELDS.map((field) => [field, query.get(field) ?? ""])) as WrittenSearch;
}

/** Which part of a list a query asks for. */
export function readPart(request: Request): ListPage | Malformed {
  const query = new URLSearchParams(queryOf(request));
  const cursor = query.get("cursor") || undefined;
  const written = query.get("limit") || String(USUAL_LIMIT);
  const limit = /^\d{1,9}$/.test(written) ? Number(written) : Number.NaN;
  return limit >= LIMIT.min && limit <= LIMIT.max
    ? { cursor, limit }
    : malformed({ rule: "query.range", field: "limit", ...LIMIT });
}
