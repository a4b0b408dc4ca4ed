// The terms of a link: everything that its maker chooses besides its destination and its code. Most code knows only the four
// kinds of terms. Code with words or markup lists the terms by name, so a new line here doesn't compile without its words. The
// rules about two terms, and about visits, are elsewhere.
import type { Link, Terms } from "./link.ts";
import { hasRightLength, PASSWORD_LENGTH } from "./password.ts";
import type { Invalid, Refusal } from "./problem.ts";
import { type Duration, type Expiry, instantOf, isoInstant, NEVER_MS, parseWhen } from "./time.ts";

/** Each kind, as JSON sends it, as a request wants it, as it is stored, and as JSON shows it. */
export interface Kinds {
  /** An instant (Unix ms), or a duration from the request on. */
  readonly when: { sent: string; wanted: Duration | number; stored: number; json: string | null };
  readonly count: { sent: number; wanted: number; stored: number; json: number | null };
  /** Only its hash is stored, and JSON says whether there is one. */
  readonly secret: { sent: string; wanted: string; stored: string; json: boolean };
  /** False is the same as absent. */
  readonly flag: { sent: boolean; wanted: boolean; stored: true; json: boolean };
}
export type Kind = keyof Kinds;

interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** `stored` is its name in {@link Terms}, and `none` the word for null where people write. */
type Term =
  | { readonly kind: "when"; readonly stored: string; readonly none: string }
  | { readonly kind: "count"; readonly stored: string; readonly none: string; readonly bounds: Bounds }
  | { readonly kind: "secret"; readonly stored: string; readonly bounds: Bounds }
  | { readonly kind: "flag"; readonly stored: string };

/** In the order of responses, export files and forms. `lib/bounds.ts` says how long each may be as sent. */
export const TERMS = {
  /** Every link has an end, in a column of its own. */
  expires_at: { kind: "when", stored: "endsMs", none: "never" },
  starts_at: { kind: "when", stored: "startsMs", none: "now" },
  max_visits: {
    kind: "count",
    stored: "maxVisits",
    none: "unlimited",
    bounds: { min: 1, max: 1_000_000_000 },
  },
  password: { kind: "secret", stored: "passwordHash", bounds: PASSWORD_LENGTH },
  forward_query: { kind: "flag", stored: "forwardQuery" },
} as const satisfies Readonly<Record<string, Term>>;

export type TermName = keyof typeof TERMS;
export type KindOf<Name extends TermName> = (typeof TERMS)[Name]["kind"];
/** The terms of a kind. */
export type NameOf<K extends Kind> = { [N in TermName]: KindOf<N> extends K ? N : never }[TermName];
export const TERM_NAMES = Object.keys(TERMS) as readonly TermName[];

/** As JSON sends them. */
export type SentTerms = { readonly [N in TermName]?: Kinds[KindOf<N>]["sent"] | null | undefined };

/**
 * As a request wants them. Null: none, which is now for a start and never for an end. Undefined: the default in a new link, no
 * change in another.
 */
export type WantedTerms = { readonly [N in TermName]?: Kinds[KindOf<N>]["wanted"] | null | undefined };

/** As they are stored. */
export type StoredTerms = {
  readonly [N in TermName as (typeof TERMS)[N]["stored"]]?: Kinds[KindOf<N>]["stored"] | undefined;
};

/** How stored terms change. Null removes one. */
export type TermChanges = { readonly [S in keyof StoredTerms]?: StoredTerms[S] | null };

/** While its properties are set one by one. The compiler accepts a missing one, so a test tries every term in every door. */
export type Building<T> = { -readonly [P in keyof T]?: T[P] };

/** As JSON shows them. */
export type TermFields = { readonly [N in TermName as ShownName<N>]: Kinds[KindOf<N>]["json"] };
export type ShownName<N extends TermName = TermName> = N extends NameOf<"secret"> ? `has_${N}` : N;

export function shownName<N extends TermName>(name: N): ShownName<N> {
  return (TERMS[name].kind === "secret" ? `has_${name}` : name) as ShownName<N>;
}

/** Reads what JSON sends. A value of another kind was refused before. */
export function readTerms(sent: SentTerms): { readonly terms: WantedTerms } | Invalid {
  const terms: Building<WantedTerms> = {};
  const refusals: Refusal[] = [];
  for (const name of TERM_NAMES) {
    const value = sent[name];
    if (value === undefined) continue;
    const wanted = value === null ? null : READ[TERMS[name].kind](value as never);
    if (wanted !== undefined) terms[name] = wanted as never;
    else refusals.push({ rule: `${name as NameOf<"when">}.format` });
  }
  return refusals.length > 0 ? { kind: "invalid", refusals } : { terms };
}

/** Only an instant has a format that can be wrong. */
const READ: { readonly [K in Kind]: (sent: Kinds[K]["sent"]) => Kinds[K]["wanted"] | undefined } = {
  when: parseWhen,
  count: (count) => count,
  secret: (secret) => secret,
  flag: (isSet) => isSet,
};

const NONE: readonly never[] = [];

/** Refuses values that no link can have. The rules about two terms are {@link refuseStart} and {@link refuseEnd}. */
export function refuseTerms(wanted: WantedTerms): readonly Refusal[] {
  let refusals: Refusal[] | undefined;
  for (const name of TERM_NAMES) {
    const value = wanted[name];
    if (value === undefined || value === null) continue;
    const refusal = REFUSE[TERMS[name].kind](value as never, name as never);
    if (refusal !== undefined) (refusals ??= []).push(refusal);
  }
  return refusals ?? NONE;
}

const REFUSE: { readonly [K in Kind]: (wanted: Kinds[K]["wanted"], name: NameOf<K>) => Refusal | undefined } =
  {
    when: () => undefined,
    count(count, name) {
      const { bounds } = TERMS[name];
      return isWithin(count, bounds) ? undefined : { rule: `${name}.range`, ...bounds };
    },
    secret: (secret, name) =>
      hasRightLength(secret) ? undefined : { rule: `${name}.length`, ...TERMS[name].bounds },
    flag: () => undefined,
  };

function isWithin(value: number, { min, max }: Bounds): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}

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

/** The changes that a request at `atMs` wants. The hash of a secret follows, because it takes long. */
export function changesOf(wanted: WantedTerms, atMs: number): TermChanges {
  const changes: Building<TermChanges> = {};
  for (const name of TERM_NAMES) {
    const { kind, stored } = TERMS[name];
    const value = wanted[name];
    if (value === undefined) continue;
    changes[stored] = (value === null ? null : STORE[kind](value as never, atMs)) as never;
  }
  return changes;
}

const STORE: {
  readonly [K in Kind]: (wanted: Kinds[K]["wanted"], atMs: number) => Kinds[K]["stored"] | null;
} = {
  when: (when, atMs) => instantOf(atMs, when),
  count: (count) => count,
  secret: () => "",
  flag: (isSet) => (isSet ? true : null),
};

/** The end of a new link. */
export function endOf({ expires_at }: WantedTerms, defaultExpiry: Expiry, atMs: number): number {
  return instantOf(atMs, expires_at === undefined ? defaultExpiry : (expires_at ?? "never"));
}

/** The terms of a new link but its end. Undefined if there are none. */
export function termsOf(wanted: WantedTerms, atMs: number): Terms | undefined {
  for (const name in wanted) if (name !== "expires_at") return applyTerms(undefined, changesOf(wanted, atMs));
  return undefined;
}

/** Terms with changes. Undefined if none is left. */
export function applyTerms(terms: Terms | undefined, changes: TermChanges): Terms | undefined {
  const changed: Building<Terms> = { ...terms };
  for (const name of TERM_NAMES) {
    const { stored } = TERMS[name];
    const value = changes[stored];
    if (stored !== "endsMs" && value !== undefined) changed[stored] = (value ?? undefined) as never;
  }
  return orNone(changed);
}

/** Undefined if no term is set. */
export function orNone(terms: Terms): Terms | undefined {
  const given = Object.entries(terms).filter(([, value]) => value !== undefined);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

/** The terms that a link has, without the others of its properties. */
export function storedTerms(link: Pick<Link, "endsMs" | "terms">): StoredTerms {
  const stored: Building<StoredTerms> = {};
  const values: StoredTerms = { ...link.terms, endsMs: link.endsMs };
  for (const name of TERM_NAMES) {
    const property = TERMS[name].stored;
    if (values[property] !== undefined) stored[property] = values[property] as never;
  }
  return stored;
}

/** A link's terms as JSON shows them. */
export function termFields(link: Pick<Link, "endsMs" | "terms">): TermFields {
  const stored = storedTerms(link);
  const fields: Building<TermFields> = {};
  for (const name of TERM_NAMES) {
    const { kind, stored: property } = TERMS[name];
    fields[shownName(name)] = SHOW[kind](stored[property] as never) as never;
  }
  return fields as TermFields;
}

const SHOW: { readonly [K in Kind]: (stored: Kinds[K]["stored"] | undefined) => Kinds[K]["json"] } = {
  when: (ms) => (ms === undefined || ms === NEVER_MS ? null : isoInstant(ms)),
  count: (count) => count ?? null,
  secret: (hash) => hash !== undefined,
  flag: (isSet) => isSet !== undefined,
};
