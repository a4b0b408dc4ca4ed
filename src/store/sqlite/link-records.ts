import type { Database } from "bun:sqlite";

import { termsJson } from "../../links/change.ts";
import type { Code } from "../../links/code.ts";
import { type Link } from "../../links/link.ts";
import { NEVER_MS } from "../../links/time.ts";
import { LINK_COLUMNS, type LinkRow, toLink } from "./link-row.ts";
import { reading, type Tables, writing } from "./record-table.ts";

const READ_LINKS = `
  SELECT rowid, code, ${LINK_COLUMNS} FROM links
  WHERE rowid > ?1 ORDER BY rowid LIMIT ?2`;
/** A link that is there keeps its place among the others. */
const WRITE_LINK = `
  INSERT INTO links (code, original_url, target, created_ms, ends_ms, disabled, terms)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
  ON CONFLICT (code) DO UPDATE
    SET rowid = iif(links.created_ms = excluded.created_ms, links.rowid, excluded.rowid),
        original_url = excluded.original_url, target = excluded.target, created_ms = excluded.created_ms,
        ends_ms = excluded.ends_ms, disabled = excluded.disabled, terms = excluded.terms
    WHERE (links.original_url, links.target, links.created_ms, links.ends_ms, links.disabled, links.terms)
      IS NOT (excluded.original_url, excluded.target, excluded.created_ms, excluded.ends_ms, excluded.disabled,
        excluded.terms)`;

type PlacedLink = LinkRow & { rowid: number; code: Code };

export function linkRecords(database: Database): Tables<"link"> {
  return {
    link: {
      read: reading<PlacedLink, Link>(database, READ_LINKS, {
        start: [Number.MIN_SAFE_INTEGER],
        keyOf: ({ rowid }) => [rowid],
        toRecord: ({ code, ...row }) => toLink(code, row),
      }),
      write: writing<Link>(
        database,
        WRITE_LINK,
        ({ code, originalUrl, target, createdMs, endsMs, disabled, terms }) => [
          code,
          originalUrl,
          (target as string) === originalUrl ? null : target,
          createdMs,
          endsMs === NEVER_MS ? null : endsMs,
          disabled ?? null,
          termsJson({ terms }),
        ],
      ),
    },
  };
}
