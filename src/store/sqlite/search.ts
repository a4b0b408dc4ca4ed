// Finds links for the operator by looking at all of them, newest first.
import type { Database } from "bun:sqlite";

import {
  leadsTo,
  type LinkCursor,
  type LinkPage,
  type LinkQuery,
  NOTHING,
  type PageRequest,
} from "../../guard/search.ts";
import { type Code, lookUpCode } from "../../links/code.ts";
import type { Link } from "../../links/link.ts";
import { LINK_COLUMNS, type LinkRow, toLink } from "./link-row.ts";

/** One request ends with the step in which this time is over, so that other views have their turn. */
const SLICE_MS = 10;
/** Rowids in a step. */
const STEP = 500;
/** After every code with the same beginning. */
const LAST_CHARACTER = "\u{10FFFF}";

const NEWEST = "SELECT coalesce(max(rowid), 0) AS link FROM links";
/** LIKE would take a hundred times as long for a URL of thousands of equal characters. */
const LOOK = `
  SELECT rowid AS link, code, ${LINK_COLUMNS} FROM links
  WHERE rowid >= $from AND rowid < $below
    AND ($text IS NULL OR (code >= $key AND code < $beyond)
      OR instr(lower(original_url), lower($text)) OR instr(lower(target), lower($text)))
    AND ($host IS NULL OR instr(coalesce(target, original_url), $host))
  ORDER BY rowid DESC LIMIT $limit`;

type Filter = Readonly<Record<"text" | "key" | "beyond" | "host", string | null>>;
type Step = Filter & Readonly<Record<"from" | "below" | "limit", number>>;

export function prepareSearch(database: Database, { sliceMs = SLICE_MS, step = STEP } = {}) {
  const newest = database.prepare<{ link: number }, []>(NEWEST);
  const look = database.prepare<LinkRow & { link: number; code: Code }, [Step]>(LOOK);

  return {
    search({ text, host }: LinkQuery, { cursor, limit }: PageRequest): LinkPage {
      // SQLite's lower() stops reading at this character, which no link has.
      if (text?.includes("\0")) return NOTHING;
      const untilMs = performance.now() + sliceMs;
      const top = newest.get()?.link ?? 0;
      const key = (text && lookUpCode(text)) ?? "";
      const filter: Filter = {
        text: text ?? null,
        key,
        beyond: key && key + LAST_CHARACTER,
        host: host ?? null,
      };
      const links: Link[] = [];
      /** The search has looked at this rowid and those above it. */
      let below = cursor === undefined ? top + 1 : readCursor(cursor);
      do {
        const left = limit - links.length;
        const from = below - step;
        const rows = look.all({ ...filter, from, below, limit: left });
        below = rows.length < left ? from : (rows.at(-1)?.link ?? from);
        const found = rows.map((row) => toLink(row.code, row));
        links.push(...found.filter(({ target }) => host === undefined || leadsTo(target, host)));
      } while (below > 1 && links.length < limit && performance.now() < untilMs);
      if (below <= 1) return { ...NOTHING, links };
      return { links, cursor: String(below) as LinkCursor, searched: Math.max(0, top + 1 - below) / top };
    },
    close() {
      newest.finalize();
      look.finalize();
    },
  };
}

function readCursor(cursor: LinkCursor): number {
  return /^\d{1,15}$/.test(cursor) ? Number(cursor) : 0;
}
