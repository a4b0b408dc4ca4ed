import type { Code } from "./code.ts";
import type { Target } from "./target.ts";

/**
 * A short link. It is identified by `code` and `createdMs` together, because a code can be given again once
 * its hold is over. Instants are Unix milliseconds.
 */
export interface Link {
  readonly code: Code;
  /** Exactly as its maker sent it. */
  readonly originalUrl: string;
  /** Where the redirect goes: stored, never recomputed, so that a newer URL parser cannot move a link. */
  readonly target: Target;
  readonly createdMs: number;
  /** The link ends when now >= endsMs; {@link NEVER_MS} for a link without an end. */
  readonly endsMs: number;
}

/**
 * 9999-12-31T00:00:00.000Z: `expiration_date` is a timestamp even where a link never ends, and this one can be turned into
 * any time zone. The last instant of that year overflows in Python east of UTC.
 */
export const NEVER_MS = 253_402_214_400_000;
