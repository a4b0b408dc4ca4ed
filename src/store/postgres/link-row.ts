import type { Code } from "../../links/code.ts";
import { type Link, NEVER_MS, type Reason } from "../../links/link.ts";
import type { Target } from "../../links/target.ts";

/** The columns of {@link LinkRow}. */
export const LINK_COLUMNS = "code, original_url, target, created_ms, ends_ms, disabled";

export interface LinkRow {
  code: Code;
  original_url: string;
  target: string | null;
  created_ms: number;
  ends_ms: number | null;
  disabled: Reason | "deleted" | null;
}

export function toLink({ code, original_url: originalUrl, ...row }: LinkRow): Link {
  return {
    code,
    originalUrl,
    target: (row.target ?? originalUrl) as Target,
    createdMs: row.created_ms,
    endsMs: row.ends_ms ?? NEVER_MS,
    disabled: row.disabled ?? undefined,
  };
}
