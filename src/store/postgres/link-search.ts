// Finds links for the operator by looking at all of them, newest first.

import type { LinkKey } from "../../links/code.ts";
import {
  isTargetWithin,
  type LinkCursor,
  type LinkPage,
  type LinkQuery,
  NOTHING,
  type PageRequest,
} from "../../moderation/link-query.ts";
import { isStorable } from "../shared/sql.ts";
import type { Statements } from "./connection/database.ts";
import { LINK_COLUMNS, type LinkRow, toLink } from "./link-row.ts";

/** Links that one request looks at: with URLs of 8 KiB, a statement takes a third of a second. */
const LOOKED_AT = 10_000;
/** After every code with the same beginning. */
const LAST_CHARACTER = "\u{10FFFF}";

const NEWEST_FIRST = "ORDER BY created_ms DESC, code DESC";
/** LIKE would take a hundred times as long for a URL of thousands of equal characters. In "C", only A to Z have two cases. */
const has = (column: string) => `strpos(lower(${column} COLLATE "C"), lower($5 COLLATE "C")) > 0`;
/** Returns the last of $3 links even if it doesn't match: the next page continues there. */
const LOOK = `
  SELECT *, (SELECT links FROM link_count) AS size FROM (
    SELECT *, ($5::text IS NULL OR (code >= $6 AND code < $7) OR ${has("original_url")} OR coalesce(${has("target")}, FALSE)
        OR coalesce(${has("(terms::json ->> 'title')")}, FALSE)
        OR ($11::text IS NOT NULL AND (${has("substr(code, length($11) + 1)")}
          OR coalesce(${has("(terms::json ->> 'owner')")}, FALSE))))
      AND ($8::text IS NULL OR strpos(coalesce(target, original_url), $8) > 0)
      AND ($9::text IS NULL OR coalesce(terms::json ->> 'createdBy' = $9, FALSE))
      AND ($10::text IS NULL OR coalesce(terms::json ->> 'owner' = $10, FALSE))
      AND ($11::text IS NULL OR (disabled IS NULL AND substr(code, 1, strpos(code, '/')) = $11)) AS is_match
    FROM (
      SELECT ${LINK_COLUMNS}, row_number() OVER (${NEWEST_FIRST}) AS nth FROM links
      WHERE (created_ms, code) < ($1, $2) ${NEWEST_FIRST} LIMIT $3
    ) AS looked
  ) AS judged
  WHERE is_match OR nth = $3 ORDER BY nth LIMIT $4`;

type JudgedRow = LinkRow & { readonly is_match: boolean; readonly nth: number; readonly size: number };

/** How many links the search has looked at, and the last one. */
interface Position {
  readonly looked: number;
  readonly createdMs: number;
  readonly code: string;
}

export function createSearch({ run }: Pick<Statements, "run">, lookedAt = LOOKED_AT) {
  return {
    async search(
      { text, key = "" as LinkKey, host, createdBy, owner, keyPrefix }: LinkQuery,
      { cursor, limit }: PageRequest,
    ): Promise<LinkPage> {
      const from = cursor === undefined ? START : readCursor(cursor);
      if (from === undefined || ![text, host, createdBy, owner].every((part) => isStorable(part ?? "")))
        return NOTHING;
      // PostgreSQL compares all links that it reads. Without a condition most of them match, so fewer suffice.
      const isNarrow = [text, host, createdBy, owner].some((part) => part !== undefined);
      const looked = isNarrow ? lookedAt : Math.min(lookedAt, 2 * limit);
      const { rows } = await run<JudgedRow>(LOOK, [
        from.createdMs,
        from.code,
        looked,
        limit,
        text,
        key,
        key && key + LAST_CHARACTER,
        host,
        createdBy,
        owner,
        keyPrefix,
      ]);
      const links = rows
        .filter((row) => row.is_match)
        .map(toLink)
        .filter(({ target }) => host === undefined || isTargetWithin(target, host));
      const last = rows.at(-1);
      if (last === undefined || (rows.length < limit && last.nth < looked)) return { ...NOTHING, links };
      const lookedSoFar = from.looked + last.nth;
      return {
        links,
        cursor: writeCursor({ looked: lookedSoFar, createdMs: last.created_ms, code: last.code }),
        searched: lookedSoFar / Math.max(lookedSoFar, last.size),
      };
    },
  };
}

const START: Position = { looked: 0, createdMs: Number.MAX_SAFE_INTEGER, code: "" };

function writeCursor({ looked, createdMs, code }: Position): LinkCursor {
  return [looked, createdMs, encodeURIComponent(code)].join(".") as LinkCursor;
}

function readCursor(cursor: LinkCursor): Position | undefined {
  const [, looked, createdMs, written = ""] =
    /^(\d{1,15})\.(-?\d{1,15})\.([\w%.!~*'()-]{0,3000})$/.exec(cursor) ?? [];
  if (looked === undefined) return undefined;
  try {
    const code = decodeURIComponent(written);
    return isStorable(code) ? { looked: Number(looked), createdMs: Number(createdMs), code } : undefined;
  } catch {
    return undefined;
  }
}
