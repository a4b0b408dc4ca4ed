// Reads, refuses, stores and shows each kind of term.

import type { Terms, WithEnd, WithTerms } from "../link.ts";
import { hasMoreMarks } from "../marks.ts";
import { type Invalid, isProblem, type Refusal, showCharacter } from "../problem.ts";
import { type Expiry, instantOf, isoInstant, NEVER_MS, parseWhen } from "../time.ts";
import {
  type Bounds,
  type Building,
  isSeenBy,
  type Kind,
  type Kinds,
  type NameOf,
  OPEN_NAMES,
  type OpenName,
  type SentTerms,
  shownName,
  type StoredTerms,
  type TermChanges,
  type TermFields,
  TERM_NAMES,
  TERMS,
  type Viewer,
  type WantedTerms,
} from "./terms.ts";

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
  text: (text) => text.trim(),
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
    text(text, name) {
      const { bounds } = TERMS[name];
      const [character] = NOT_IN_TEXT.exec(text) ?? [];
      if (!isWithin(Array.from(text).length, bounds)) return { rule: `${name}.length`, ...bounds };
      return character === undefined
        ? undefined
        : { rule: `${name}.character`, character: showCharacter(character) };
    },
  };

/** Line breaks, and characters that PostgreSQL or UTF-8 can't hold, or that mean nothing. */
const NOT_IN_TEXT = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]/u;

/** The text that a foreign file has for a term, made to fit. Undefined if nothing is left. */
export function fitText(name: NameOf<"text">, text: string): string | undefined {
  const line = text.replaceAll(new RegExp(NOT_IN_TEXT, "gu"), " ").trim();
  return Array.from(line).slice(0, TERMS[name].bounds.max).join("").trim() || undefined;
}

function isWithin(value: number, { min, max }: Bounds): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}

/** Refuses a new start for a link, if that has started already or the start is in the past. */
export function refuseStart(startsMs: number, nowMs: number, hasStarted = false): readonly Refusal[] {
  if (hasStarted) return [{ rule: "starts_at.started" }];
  return startsMs < nowMs ? [{ rule: "starts_at.past" }] : NONE;
}

/** Refuses to pass the path on for a maker without a name, where that needs one. */
export function refusePath({ forward_path }: WantedTerms, needsName: boolean): readonly Refusal[] {
  return needsName && forward_path === true ? [{ rule: "forward_path.anonymous" }] : NONE;
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
  text: (text) => text,
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
export function storedTerms(link: WithEnd): StoredTerms {
  const stored: Building<StoredTerms> = {};
  const values: StoredTerms = { ...link.terms, endsMs: link.endsMs };
  for (const name of TERM_NAMES) {
    const property = TERMS[name].stored;
    if (values[property] !== undefined) stored[property] = values[property] as never;
  }
  return stored;
}

/** Terms as stores keep them. */
export function termsJson({ terms }: WithTerms): string | null {
  return terms === undefined ? null : JSON.stringify(terms);
}

export function parseTerms(json: string | null): Terms | undefined {
  return json === null ? undefined : (JSON.parse(json) as Terms);
}

/** A link's terms as JSON shows them to a reader. */
export function termFields(link: WithEnd, viewer: Viewer): TermFields {
  const stored = storedTerms(link);
  const fields: Building<TermFields> = {};
  for (const name of TERM_NAMES) {
    if (!isSeenBy(name, viewer)) continue;
    const { kind, stored: property } = TERMS[name];
    fields[shownName(name)] = SHOW[kind](stored[property] as never) as never;
  }
  return fields as TermFields;
}

/** The values of the terms that aren't secret, as texts for the journal. A flag that isn't set has no text. */
export function termTexts(link: WithEnd): ReadonlyMap<OpenName, string | undefined> {
  const fields = termFields(link, "maker");
  return new Map(
    OPEN_NAMES.map((name) => {
      const value = fields[name] ?? false;
      return [name, value === false ? undefined : String(value)];
    }),
  );
}

/** Parses a text of {@link termTexts}. Undefined if no link can have this value. */
export function readTermText(name: OpenName, text: string | null): WantedTerms | undefined {
  const { kind } = TERMS[name];
  const sent =
    text === null ? null : kind === "flag" ? text === "true" : kind === "count" ? Number(text) : text;
  const read = readTerms({ [name]: sent });
  return isProblem(read) || refuseTerms(read.terms).length > 0 ? undefined : read.terms;
}

const SHOW: { readonly [K in Kind]: (stored: Kinds[K]["stored"] | undefined) => Kinds[K]["json"] } = {
  when: (ms) => (ms === undefined || ms === NEVER_MS ? null : isoInstant(ms)),
  count: (count) => count ?? null,
  secret: (hash) => hash !== undefined,
  flag: (isSet) => isSet !== undefined,
  text: (text) => text ?? null,
};

/** In UTF-16 units: far more than any spelling of the longest password has. */
const MAX_COUNTED = 1024;

/** Whether a password may have this length, in code points of NFC. */
export function hasRightLength(password: string): boolean {
  const { min, max } = TERMS.password.bounds;
  if (password.length > MAX_COUNTED || hasMoreMarks(password, max)) return false;
  const { length } = Array.from(password.normalize("NFC"));
  return min <= length && length <= max;
}
