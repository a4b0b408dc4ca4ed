import type { NameOf } from "./terms/terms.ts";

/** Why a value of a request is refused. `rule` is also the key of its message. */
export type Refusal =
  | { rule: "code.too-long"; max: number }
  | { rule: "code.ill-formed" }
  | { rule: "code.character"; character: string }
  | { rule: "code.space" }
  | { rule: "code.invisible"; character: string }
  | { rule: "code.joiner"; character: string }
  | { rule: "code.mark"; character: string }
  | { rule: "code.reserved"; code: string }
  | { rule: "domain.unknown" }
  | { rule: "target.ill-formed" }
  | { rule: "target.control"; character: string }
  | { rule: "target.space" }
  | { rule: "target.backslash" }
  | { rule: "target.scheme" }
  | { rule: "target.unparsable" }
  | { rule: "target.credentials" }
  | { rule: "target.too-long"; max: number }
  | { rule: "target.own" }
  | { rule: "target.path-in-host" }
  | { rule: "target.private" }
  | { rule: "target.chain"; host: string }
  | { rule: "target.blocked"; host: string }
  | { rule: `${NameOf<"when">}.format` | "expires_at.past" | "expires_at.before-start" }
  | { rule: "starts_at.past" | "starts_at.started" }
  | { rule: "forward_path.anonymous" | "owner.name" }
  | { rule: `${NameOf<"text">}.character`; character: string }
  | { rule: `${NameOf<"count">}.range` | `${NameOf<"secret" | "text">}.length`; min: number; max: number };

/** A request has wrong values. All of them are reported together. */
export interface Invalid {
  readonly kind: "invalid";
  readonly refusals: readonly Refusal[];
}

export function invalid(refusal: Refusal): Invalid {
  return { kind: "invalid", refusals: [refusal] };
}

/** The code of a new link is in use. */
export type Taken = { readonly kind: "taken" };

/** No link has this code, for this reader. `meant`: the code of a link that they may have meant. */
export interface Unknown {
  readonly kind: "unknown";
  readonly meant?: string | undefined;
}

/** Why the operator disables a link or blocks a host. */
export const REASONS = ["malware", "phishing", "spam", "illegal", "legal", "other"] as const;

export type Reason = (typeof REASONS)[number];

/** Why a link doesn't redirect although it has not ended: its own state, or a rule about its target. */
export type DisabledReason = Reason | "blocklist" | "deleted";

/** The maker withdrew the link, or `maxVisits` are used. */
export type EndedBy = "withdrawn" | "visits";

/** Every expected outcome other than success. Faults are thrown. */
export type Problem =
  | Invalid
  | Taken
  | Unknown
  | { kind: "expired"; endedMs: number; by?: EndedBy | undefined }
  | { kind: "disabled"; reason: DisabledReason };

/**
 * Whether a value is a problem: problems have a `kind`, and no result has one. Don't use it on input that isn't
 * validated yet, because a JSON body may have a `kind`.
 */
export function isProblem<T>(value: T): value is Extract<T, { readonly kind: string }> {
  return typeof value === "object" && value !== null && "kind" in value;
}

/** The name of a character in messages, such as "U+200B". */
export function codePointName(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return `U+${hex.padStart(4, "0")}`;
}

/** A character in messages: punctuation and symbols as "! (U+0021)", others as "U+200B". */
export function showCharacter(character: string): string {
  const name = codePointName(character);
  return /^[\p{P}\p{S}]$/u.test(character) ? `${character} (${name})` : name;
}
