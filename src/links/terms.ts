import type { Terms } from "./link.ts";
import { hasRightLength, PASSWORD_LENGTH } from "./password.ts";
import type { Refusal } from "./problem.ts";

export const MAX_VISITS = { min: 1, max: 1_000_000_000 } as const;

/** Shared by nearly all requests, because a new list would cost each of them a little. */
const NONE: readonly never[] = [];

/** Refuses a new start for a link, if that has started already or the start is in the past. */
export function refuseStart(startsMs: number, nowMs: number, hasStarted = false): readonly Refusal[] {
  if (hasStarted) return [{ rule: "starts_at.started" }];
  return startsMs < nowMs ? [{ rule: "starts_at.past" }] : NONE;
}

/** Refuses an end in the past, or before the link starts at `fromMs`. */
export function refuseEnd(endsMs: number, fromMs: number, nowMs: number): readonly Refusal[] {
  if (endsMs <= nowMs) return [{ rule: "expires_at.past" }];
  return endsMs <= fromMs ? [{ rule: "expires_at.before-start" }] : NONE;
}

export function refuseTerms({
  maxVisits = null,
  password = null,
}: {
  readonly maxVisits?: Terms["maxVisits"] | null;
  readonly password?: string | null | undefined;
}): readonly Refusal[] {
  if (maxVisits === null && password === null) return NONE;
  const refusals: Refusal[] = [];
  if (maxVisits !== null && !isWithin(maxVisits, MAX_VISITS))
    refusals.push({ rule: "max_visits.range", ...MAX_VISITS });
  if (password !== null && !hasRightLength(password))
    refusals.push({ rule: "password.length", ...PASSWORD_LENGTH });
  return refusals;
}

function isWithin(value: number, { min, max }: { readonly min: number; readonly max: number }): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}
