import { parseTerms, termsJson } from "../../links/change.ts";
import type { Code } from "../../links/code.ts";
import { type Link, type Reason } from "../../links/link.ts";
import type { Target } from "../../links/target.ts";
import { NEVER_MS } from "../../links/time.ts";
import type { Value } from "./connection/database.ts";

/** The columns of {@link LinkRow}. */
export const LINK_COLUMNS = "code, original_url, target, created_ms, ends_ms, disabled, terms";

export interface LinkRow {
  code: Code;
  original_url: string;
  target: string | null;
  created_ms: number;
  ends_ms: number | null;
  disabled: Reason | "deleted" | null;
  terms: string | null;
}

export function toLink({ code, original_url: originalUrl, ...row }: LinkRow): Link {
  return {
    code,
    originalUrl,
    target: (row.target ?? originalUrl) as Target,
    createdMs: row.created_ms,
    endsMs: row.ends_ms ?? NEVER_MS,
    disabled: row.disabled ?? undefined,
    terms: parseTerms(row.terms),
  };
}

/** A source of rows, with the columns of {@link columnsOf} as `$1` to `$6` and the number of the row from 1 on. */
export const GIVEN_LINKS = `
  unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[]) WITH ORDINALITY
    AS given (code, original_url, target, created_ms, ends_ms, terms, nth)`;

export function columnsOf(links: readonly Link[]): Value[] {
  return [
    links.map(({ code }) => code),
    links.map(({ originalUrl }) => originalUrl),
    links.map(({ originalUrl, target }) => ((target as string) === originalUrl ? null : target)),
    links.map(({ createdMs }) => createdMs),
    links.map(({ endsMs }) => (endsMs === NEVER_MS ? null : endsMs)),
    links.map(termsJson),
  ];
}
