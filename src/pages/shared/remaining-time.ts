import { formerHostOf } from "../../links/change.ts";
import { hasPassword, type Link } from "../../links/link.ts";
import { DAY_MS, HOUR_MS } from "../../links/time.ts";
import type { Changed } from "./lifetime.tsx";

/** What visitors are told of a link that led elsewhere. The former host may be as secret as the present one. */
export function changedOf(link: Pick<Link, "target" | "terms">, nowMs: number): Changed | undefined {
  const { changedMs } = link.terms ?? {};
  if (changedMs === undefined) return undefined;
  return { atMs: changedMs, formerHost: hasPassword(link) ? undefined : formerHostOf(link, nowMs) };
}

const MINUTE_MS = 60_000;

/**
 * Minutes until a link ends, rounded up. Undefined if that is more than a day, or over. Above two hours, it is whole hours,
 * so that a page that tells it seldom changes.
 */
export function minutesLeftOf({ endsMs }: Pick<Link, "endsMs">, nowMs: number): number | undefined {
  const leftMs = endsMs - nowMs;
  if (leftMs <= 0 || leftMs > DAY_MS) return undefined;
  const stepMs = leftMs > 2 * HOUR_MS ? HOUR_MS : MINUTE_MS;
  return (Math.ceil(leftMs / stepMs) * stepMs) / MINUTE_MS;
}
