import { readText } from "../../http/body.ts";
import type { Call } from "../../http/call.ts";
import type { FieldNames } from "../../http/field-names.ts";
import { describe, type HttpProblem, type Malformed, malformed } from "../../http/problems.ts";
import { isProblem } from "../../links/problem.ts";
// What every form of a page has in common.
import { message, type MessageKey } from "../../locales/messages.ts";
import type { FieldErrors } from "./field.tsx";

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;
/** No form has as many. Reading the 30,000 that fit into a body would take as long as 300 redirects. */
const MAX_FIELDS = 100;

/** Reads what a form sends (WHATWG URL, section 5: application/x-www-form-urlencoded). */
export async function readFields(request: Request): Promise<URLSearchParams | HttpProblem> {
  const type = request.headers.get("content-type") ?? "";
  if (!FORM_TYPE.test(type.trim())) return { kind: "body.form" };
  const text = await readText(request);
  return isProblem(text) ? text : parseForm(text);
}

/**
 * Reads the first {@link MAX_FIELDS} fields. Refuses what is not UTF-8 once percent-decoded: the parser puts U+FFFD in
 * its place, and a form in another encoding would make a link that leads elsewhere than its maker said.
 */
export function parseForm(text: string): URLSearchParams | Malformed {
  const read = text.split("&", MAX_FIELDS).join("&");
  const sent = new URLSearchParams(read);
  if (![...sent].flat().some((part) => part.includes("\uFFFD"))) return sent;
  try {
    // Somebody may have sent U+FFFD itself.
    decodeURIComponent(read);
    return sent;
  } catch {
    return malformed({ rule: "body.encoding" });
  }
}

/**
 * Whether another site sent the form with a visitor's browser (Fetch Metadata, section 2.4). Browsers that do not say so
 * send an `Origin`, which is "null" for pages without a referrer, such as ours.
 */
export function isFromAnotherSite({ headers, domain }: Call): boolean {
  if (headers.get("sec-fetch-site") === "cross-site") return true;
  const origin = headers.get("origin") ?? "null";
  return origin !== "null" && origin !== domain.origin && URL.parse(origin)?.host !== headers.get("host");
}

/** The messages of a problem beside the fields they are about, or above the form if one is about none of them. */
export function tellBeside<Field extends string>(
  problem: HttpProblem,
  fields: readonly Field[],
  language: string,
  names?: FieldNames,
  /** Messages to say instead of others. */
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
