/** Why one value of a create request is refused. `rule` is also the key of its message. */
export type Refusal =
  | { rule: "code.too-long"; max: number }
  | { rule: "code.ill-formed" }
  | { rule: "code.character"; character: string }
  | { rule: "code.space" }
  | { rule: "code.invisible"; character: string }
  | { rule: "code.joiner"; character: string }
  | { rule: "code.mark"; character: string }
  | { rule: "code.reserved"; code: string }
  | { rule: "target.ill-formed" }
  | { rule: "target.control"; character: string }
  | { rule: "target.space" }
  | { rule: "target.backslash" }
  | { rule: "target.scheme" }
  | { rule: "target.unparsable" }
  | { rule: "target.credentials" }
  | { rule: "target.too-long"; max: number }
  | { rule: "target.own" }
  | { rule: "target.private" };

/** The values of a create request are refused. All that are wrong are named at once. */
export interface Invalid {
  readonly kind: "invalid";
  readonly refusals: readonly Refusal[];
}

export function invalid(refusal: Refusal): Invalid {
  return { kind: "invalid", refusals: [refusal] };
}

/** The outcomes that the domain expects besides success; everything else is a fault and thrown. */
export type Problem =
  | Invalid
  | { kind: "taken" }
  | { kind: "unknown" }
  | { kind: "expired"; endedMs: number };

/**
 * Tells a problem from a value, wherever something can fail: a problem has a `kind`, and no value of ours has one.
 * What others sent (a parsed JSON body) may have anything, so it must be validated first.
 */
export function isProblem<T>(value: T): value is Extract<T, { readonly kind: string }> {
  return typeof value === "object" && value !== null && "kind" in value;
}

/** "U+200B": how messages name a character that cannot be shown. */
export function codePointName(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return `U+${hex.padStart(4, "0")}`;
}

/** A refused character for a message: itself where it has a shape of its own, and always its number. */
export function showCharacter(character: string): string {
  const name = codePointName(character);
  return /^[\p{P}\p{S}]$/u.test(character) ? `${character} (${name})` : name;
}
