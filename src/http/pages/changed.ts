import { FORMER_HOST_MS } from "../../links/change.ts";
import { hasPassword, type Link } from "../../links/link.ts";
import type { Changed } from "../../pages/lifetime.tsx";

/** What visitors are told of a link that led elsewhere. The former host may be as secret as the present one. */
export function changedOf(link: Pick<Link, "terms">, nowMs: number): Changed | undefined {
  const { changedMs, formerHost } = link.terms ?? {};
  if (changedMs === undefined) return undefined;
  const isTold = nowMs < changedMs + FORMER_HOST_MS && !hasPassword(link);
  return { atMs: changedMs, formerHost: isTold ? formerHost : undefined };
}
