import type { Code } from "./code.ts";
import type { Target } from "./target.ts";

/**
 * A short link. `code` and `createdMs` together identify it, because a code can be reused some time after its link
 * has ended. Instants are Unix milliseconds.
 */
export interface Link {
  readonly code: Code;
  /** Exactly as it was sent. */
  readonly originalUrl: string;
  /** Where the redirect goes. It is stored and never recomputed, so that a newer URL parser cannot change it. */
  readonly target: Target;
  readonly createdMs: number;
  /** The link has ended when now >= endsMs. {@link NEVER_MS} if it never ends. */
  readonly endsMs: number;
  /** Why the operator disabled the link. A deleted link is only kept so that its code is never given to anyone else. */
  readonly disabled?: Reason | "deleted" | undefined;
}

/** Why the operator disables a link or blocks a host. */
export const REASONS = ["malware", "phishing", "spam", "illegal", "legal", "other"] as const;
export type Reason = (typeof REASONS)[number];

/** Why a link does not lead anywhere although it has not ended: its own state, or a rule about its target. */
export type DisabledReason = Reason | "blocklist" | "deleted";

/**
 * 9999-12-31T00:00:00.000Z. The API returns it as the `expiration_date` of links that never end. It is not the last
 * second of the year, because that is in the year 10000 in zones east of UTC, which Python cannot represent.
 */
export const NEVER_MS = 253_402_214_400_000;
