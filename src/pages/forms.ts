import { readText } from "../http/body.ts";
import type { FieldNames } from "../http/field-names.ts";
import { describe, type HttpProblem, type Malformed, malformed } from "../http/problems.ts";
import { answer } from "../http/responses.ts";
import { type AnyBody, type Fields, hasTooManyPairs, header, MAX_PAIRS, parseFields } from "../lib/bounds.ts";
import { isProblem } from "../links/problem.ts";
import {
  type Building,
  type Kind,
  type Kinds,
  type NameOf,
  TERM_NAMES,
  type TermName,
  TERMS,
  type WantedTerms,
} from "../links/terms/terms.ts";
import { message, type MessageKey } from "../locales/messages.ts";
import { type FieldErrors, SET } from "./shared/form-fields.tsx";

/** A refused form shows values again up to this length, in UTF-16 units: enough for every title and every spelling of a code. */
export const MAX_SHOWN = 1024;

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;
/** `datetime-local` (WHATWG HTML, section 2.3.5.5). */
const LOCAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?$/;

/** Reads a form (WHATWG URL, section 5: application/x-www-form-urlencoded). */
export async function readForm(request: Request, body: AnyBody): Promise<Fields | HttpProblem> {
  const type = header(request.headers, "content-type", "?") ?? "";
  if (!FORM_TYPE.test(type.trim())) return { kind: "body.form" };
  const text = await readText(request, body.maxBytes);
  if (isProblem(text)) return text;
  return hasTooManyPairs(text) ? malformed({ rule: "body.values", max: MAX_PAIRS }) : parseForm(text);
}

/** Refuses other encodings than UTF-8: with the parser's U+FFFD in it, a link would have the wrong destination. */
export function parseForm(text: string): Fields | Malformed {
  const fields = parseFields(text);
  if (![...fields].flat().some((part) => part.includes("\uFFFD"))) return fields;
  try {
    // A form may contain a real U+FFFD.
    decodeURIComponent(text);
    return fields;
  } catch {
    return malformed({ rule: "body.encoding" });
  }
}

/** A local time in a zone, in Unix milliseconds. Times that clocks skip or repeat become the later or the earlier one. */
export function instantOf(local: string, zone: string): number | undefined {
  if (!LOCAL.test(local)) return undefined;
  try {
    return Temporal.PlainDateTime.from(local).toZonedDateTime(zone || "UTC").epochMilliseconds;
  } catch {
    return undefined;
  }
}

/** The zone, or UTC for one that only the visitor's browser knows. */
export function knownZone(zone: string): string {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone || "UTC");
    return zone;
  } catch {
    return "UTC";
  }
}

/** The terms of a form, but for instants, which each form asks for in its own way. A field that wasn't sent changes nothing. */
export function readTerms(
  textOf: (name: TermName) => string | undefined,
  whens: { readonly [N in NameOf<"when">]: WantedTerms[N] },
): WantedTerms {
  const terms: Building<WantedTerms> = { ...whens };
  for (const name of TERM_NAMES) {
    const { kind } = TERMS[name];
    const text = textOf(name);
    if (kind !== "when" && text !== undefined) terms[name] = READ[kind](text) as never;
  }
  return terms;
}

const READ: {
  readonly [K in Exclude<Kind, "when">]: (text: string) => Kinds[K]["wanted"] | null | undefined;
} = {
  // The domain refuses NaN.
  count: (text) => (text.trim() === "" ? null : Number(/^\d{1,15}$/.exec(text.trim())?.[0])),
  // Nobody can see the present one, so an empty field keeps it.
  secret: (text) => text || undefined,
  flag: (text) => text === SET,
  text: (text) => text.trim() || null,
};

/** Messages about dates that help people more than the API's. */
export function dateWords(zone: string) {
  const word = knownZone(zone) === zone ? "home.date.wrong" : "home.date.zone";
  return { "expires_at.format": word, "starts_at.format": word } as const;
}

/** The messages of a problem beside their fields, or above the form if one belongs to no field. */
export function describeInForm<Field extends string>(
  problem: HttpProblem,
  fields: readonly Field[],
  language: string,
  names?: FieldNames,
  /** Messages to replace. */
  words: Readonly<Partial<Record<MessageKey, MessageKey>>> = {},
): { errors: FieldErrors<Field>; notice?: string } {
  const errors = new Map<Field, string>();
  for (const { field, key, values } of describe(problem, names).messages) {
    const text = message(language, words[key] ?? key, values);
    const inForm = fields.find((one) => one === field);
    if (inForm === undefined) return { errors: {} as FieldErrors<Field>, notice: text };
    errors.set(inForm, text);
  }
  return { errors: Object.fromEntries(errors) as FieldErrors<Field> };
}

export function seeOther(path: string, cookie?: string): Response {
  const headers = { Location: path, "Cache-Control": "no-store" };
  return answer({
    status: 303,
    headers: { ...headers, ...(cookie !== undefined && { "Set-Cookie": cookie }) },
  });
}
