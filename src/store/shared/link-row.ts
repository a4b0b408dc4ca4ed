import type { LinkKey } from "../../links/code.ts";
import type { LinkId } from "../../links/link-store.ts";
import type { StoredLink } from "../../links/link.ts";
import type { Reason } from "../../links/problem.ts";
import type { Target } from "../../links/target.ts";
import { parseTerms } from "../../links/terms/term-values.ts";
import { NEVER_MS } from "../../links/time.ts";

/** A row of links without its code, which a look-up already knows. */
export interface LinkRow {
  original_url: string;
  target: string | null;
  created_ms: number;
  ends_ms: number | null;
  disabled: Reason | "deleted" | null;
  terms: string | null;
}

/** The columns of {@link LinkRow}. */
export const LINK_COLUMNS = "original_url, target, created_ms, ends_ms, disabled, terms";

export function toLink(code: LinkKey, row: LinkRow): StoredLink {
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

/** Drops other fields of an object with an id. */
export function idOf({ code, createdMs }: LinkId): LinkId {
  return { code, createdMs };
}

export function storedTarget({
  target,
  originalUrl,
}: Pick<StoredLink, "target" | "originalUrl">): string | null {
  return (target as string) === originalUrl ? null : target;
}

export function storedEndMs({ endsMs }: Pick<StoredLink, "endsMs">): number | null {
  return endsMs === NEVER_MS ? null : endsMs;
}
