// What JSON says about a link, once for the API, the operator's API and export files.

import { hasPassword, type Link, type Terms } from "./link.ts";
import { isoInstant, NEVER_MS } from "./time.ts";

/** Everything that follows from the link alone. Only the maker sees the target of a link with a password. */
export function linkFields(
  link: Pick<Link, "code" | "originalUrl" | "createdMs" | "endsMs" | "terms">,
  isMaker: boolean,
) {
  const { code, createdMs, endsMs, terms = {} } = link;
  return {
    code,
    target: isMaker || !hasPassword(link) ? link.originalUrl : null,
    created_at: isoInstant(createdMs),
    starts_at: isoInstantOrNull(terms.startsMs),
    expires_at: endsMs === NEVER_MS ? null : isoInstant(endsMs),
    max_visits: terms.maxVisits ?? null,
    visits_used: isMaker && terms.maxVisits !== undefined ? (terms.visits ?? 0) : null,
    has_password: hasPassword(link),
    changed_at: isoInstantOrNull(terms.changedMs),
  };
}

/** The name of each term in an export file, in the order of the file, and how its value is written. */
export const TERM_FIELDS = {
  startsMs: { name: "starts_at", type: "instant" },
  maxVisits: { name: "max_visits", type: "count" },
  visits: { name: "visits_used", type: "count" },
  passwordHash: { name: "password_hash", type: "passwordHash" },
  ended: { name: "ended", type: "ended" },
  changedMs: { name: "changed_at", type: "instant" },
  formerHost: { name: "former_host", type: "text" },
  formerMs: { name: "former_ms", type: "count" },
} as const satisfies Readonly<Record<keyof Terms, { readonly name: string; readonly type: string }>>;

function isoInstantOrNull(ms: number | undefined): string | null {
  return ms === undefined ? null : isoInstant(ms);
}
