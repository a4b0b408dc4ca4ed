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
import { LINK_COLUMNS, type LinkRow, toLink } from "../shared/link-row.ts";
import type { FileDatabase } from "./file/file-database.ts";

/** Rowids per request, which take less than a millisecond. A redirect on the same core may wait for them. */
const LOOKED_AT = 2000;
/** After every code with the same beginning. */
const LAST_CHARACTER = "\u{10FFFF}";

const NEWEST = "SELECT coalesce(max(rowid), 0) AS link FROM links";
/** LIKE would take a hundred times as long for a URL of thousands of equal characters. */
const SEARCH = `
  SELECT rowid AS link, code, ${LINK_COLUMNS} FROM links
  WHERE rowid >= $from AND rowid < $below
    AND ($text IS NULL OR (code >= $key AND code < $beyond)
      OR instr(lower(original_url), lower($text)) OR instr(lower(target), lower($text))
      OR instr(lower(terms ->> 'title'), lower($text))
      OR ($prefix IS NOT NULL AND (instr(lower(substr(code, length($prefix) + 1)), lower($text))
        OR instr(lower(terms ->> 'owner'), lower($text)))))
    AND ($host IS NULL OR instr(coalesce(target, original_url), $host))
    AND ($by IS NULL OR terms ->> 'createdBy' = $by)
    AND ($owner IS NULL OR terms ->> 'owner' = $owner)
    AND ($prefix IS NULL OR (disabled IS NULL AND substr(code, 1, instr(code, '/')) = $prefix))
  ORDER BY rowid DESC LIMIT $limit`;

type SearchParameters = Readonly<
  Record<"from" | "below" | "limit", number> &
    Record<"text" | "key" | "beyond" | "host" | "by" | "owner" | "prefix", string | null>
>;

export function createSearch(database: FileDatabase, lookedAt = LOOKED_AT) {
  const newest = database.statement<{ link: number }, []>(NEWEST);
  const find = database.statement<LinkRow & { link: number; code: LinkKey }, [SearchParameters]>(SEARCH);

  return {
    search(
      { text, key = "" as LinkKey, host, createdBy, owner, keyPrefix }: LinkQuery,
      { cursor, limit }: PageRequest,
    ): LinkPage {
      // SQLite's lower() stops reading at this character, which no link has.
      if (text?.includes("\0")) return NOTHING;
      const top = newest.get()?.link ?? 0;
      const below = cursor === undefined ? top + 1 : readCursor(cursor);
      const from = Math.max(1, below - lookedAt);
      const rows = find.all({
        from,
        below,
        text: text ?? null,
        key,
        beyond: key && key + LAST_CHARACTER,
        host: host ?? null,
        by: createdBy ?? null,
        owner: owner ?? null,
        prefix: keyPrefix ?? null,
        limit,
      });
      const reached = rows.length < limit ? from : (rows.at(-1)?.link ?? from);
      const links = rows
        .map((row) => toLink(row.code, row))
        .filter(({ target }) => host === undefined || isTargetWithin(target, host));
      if (reached <= 1) return { ...NOTHING, links };
      return { links, cursor: String(reached) as LinkCursor, searched: Math.max(0, top + 1 - reached) / top };
    },
  };
}

function readCursor(cursor: LinkCursor): number {
  return /^\d{1,15}$/.test(cursor) ? Number(cursor) : 0;
}
