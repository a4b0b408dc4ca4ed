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
  /** What only few links have. Undefined for all others. */
  readonly terms?: Terms | undefined;
}

/** What a maker asked for beyond a target and an end, and what became of it. Stores keep it as JSON. */
export interface Terms {
  /** The link does not exist for visitors before this. */
  readonly startsMs?: number | undefined;
  /** The link ends with this visit. */
  readonly maxVisits?: number | undefined;
  /** How many of them there have been. */
  readonly visits?: number | undefined;
  /** As `Bun.password` writes it. */
  readonly passwordHash?: string | undefined;
  /** How the link ended, if not because its time was over. */
  readonly ended?: EndedBy | undefined;
  /** When the target was last changed. */
  readonly changedMs?: number | undefined;
  /** The host of an earlier target. */
  readonly formerHost?: string | undefined;
  /** For how long the link led there. */
  readonly formerMs?: number | undefined;
}

/** Its maker withdrew it, or it had all its visits. */
export type EndedBy = "withdrawn" | "visits";

/** Whether a visit must be let in by more than the time, so that no cache may answer it. */
export function isGuarded({ terms }: Link): boolean {
  return terms !== undefined && (terms.maxVisits !== undefined || terms.passwordHash !== undefined);
}

/** Whether only those who know its password, or manage it, are told where a link leads. */
export function hasPassword({ terms }: Pick<Link, "terms">): boolean {
  return terms?.passwordHash !== undefined;
}

/** Clocks of several machines differ, so a link that was ended has ended even if its time is not over here. */
export function hasEnded({ endsMs, terms }: Pick<Link, "endsMs" | "terms">, nowMs: number): boolean {
  return nowMs >= endsMs || terms?.ended !== undefined;
}

/** Until then, the link does not exist for visitors. */
export function hasStarted({ terms }: Pick<Link, "terms">, nowMs: number): boolean {
  return nowMs >= (terms?.startsMs ?? 0);
}

/** Since when the link has its target. */
export function targetSinceMs({ createdMs, terms }: Pick<Link, "createdMs" | "terms">): number {
  return terms?.changedMs ?? createdMs;
}

/** Since when, or from when, visitors are led to its target. */
export function redirectsSinceMs(link: Pick<Link, "createdMs" | "terms">): number {
  return Math.max(targetSinceMs(link), link.terms?.startsMs ?? 0);
}

export const STATES = ["active", "scheduled", "expired", "used_up", "withdrawn", "disabled"] as const;
export type State = (typeof STATES)[number];

/** What became of a link. One that is disabled and has ended is disabled. */
export function stateOf(link: LinkFacts, nowMs: number): State {
  const { disabled, terms } = link;
  if (disabled !== undefined) return "disabled";
  if (!hasEnded(link, nowMs)) return hasStarted(link, nowMs) ? "active" : "scheduled";
  if (terms?.ended === undefined) return "expired";
  return terms.ended === "visits" ? "used_up" : "withdrawn";
}

interface LinkFacts extends Pick<Link, "endsMs" | "terms"> {
  readonly disabled?: DisabledReason | undefined;
}

/** Why the operator disables a link or blocks a host. */
export const REASONS = ["malware", "phishing", "spam", "illegal", "legal", "other"] as const;
export type Reason = (typeof REASONS)[number];

/** Why a link does not lead anywhere although it has not ended: its own state, or a rule about its target. */
export type DisabledReason = Reason | "blocklist" | "deleted";

/** A link as it was looked up: `disabled` is its own state, or else the rule that applies to its target. */
export interface FoundLink extends Omit<Link, "disabled"> {
  readonly disabled: Exclude<DisabledReason, "deleted"> | undefined;
}
