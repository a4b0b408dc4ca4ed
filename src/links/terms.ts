import type { Terms } from "./link.ts";
import { passwordLength } from "./password.ts";
import type { Refusal } from "./problem.ts";

// What a maker may ask for beyond a target.

export const MAX_VISITS = { min: 1, max: 1_000_000_000 } as const;
/** In code points. */
export const PASSWORD_LENGTH = { min: 1, max: 128 } as const;

/** Nearly all requests are refused nothing. Making the list anew would cost each of them a little. */
const NONE: readonly never[] = [];

/** A start that is chosen now, for a link that may have one already. */
export function refuseStart(startsMs: number, nowMs: number, isBegun = false): readonly Refusal[] {
  if (isBegun) return [{ rule: "starts.begun" }];
  return startsMs < nowMs ? [{ rule: "starts.past" }] : NONE;
}

/** The end of a link that begins at `fromMs`. */
export function refuseEnd(ends: number, fromMs: number, nowMs: number): readonly Refusal[] {
  if (ends <= nowMs) return [{ rule: "expires.past" }];
  return ends <= fromMs ? [{ rule: "expires.before-start" }] : NONE;
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
  if (password !== null && !isWithin(passwordLength(password), PASSWORD_LENGTH))
    refusals.push({ rule: "password.length", ...PASSWORD_LENGTH });
  return refusals;
}

function isWithin(value: number, { min, max }: { readonly min: number; readonly max: number }): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}
