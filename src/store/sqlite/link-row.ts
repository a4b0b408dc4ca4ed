import { parseTerms, termsJson } from "../../links/change.ts";
import type { Code } from "../../links/code.ts";
import { type Link, NEVER_MS, type Reason } from "../../links/link.ts";
import type { Target } from "../../links/target.ts";

export interface LinkRow {
  original_url: string;
  target: string | null;
  created_ms: number;
  ends_ms: number | null;
  disabled: Reason | "deleted" | null;
  terms: string | null;
}

export const LINK_COLUMNS = "original_url, target, created_ms, ends_ms, disabled, terms";

export function toLink(code: Code, row: LinkRow): Link {
  return {
    code,
    originalUrl: row.original_url,
    target: (row.target ?? row.original_url) as Target,
    createdMs: row.created_ms,
    endsMs: row.ends_ms ?? NEVER_MS,
    disabled: row.disabled ?? undefined,
    terms: parseTerms(row.terms),
  };
}

/** A code that is there is left alone. */
export const ADD_LINK = `
  INSERT INTO links (code, original_url, target, created_ms, ends_ms, disabled, terms)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (code) DO NOTHING`;

/** For {@link ADD_LINK}. */
export function columnsOf({ code, originalUrl, target, createdMs, endsMs, disabled, terms }: Link) {
  return [
    code,
    originalUrl,
    (target as string) === originalUrl ? null : target,
    createdMs,
    endsMs === NEVER_MS ? null : endsMs,
    disabled ?? null,
    termsJson({ terms }),
  ];
}
