import { formerHostOf } from "../../links/change.ts";
import { hasPassword, type Link } from "../../links/link.ts";
import type { Changed } from "../../pages/lifetime.tsx";

/** What visitors are told of a link that led elsewhere. The former host may be as secret as the present one. */
export function changedOf(link: Pick<Link, "target" | "terms">, nowMs: number): Changed | undefined {
  const { changedMs } = link.terms ?? {};
  if (changedMs === undefined) return undefined;
  return { atMs: changedMs, formerHost: hasPassword(link) ? undefined : formerHostOf(link, nowMs) };
}
