import { type HttpProblem, type Malformed, malformed } from "../../http/problems.ts";
import { BODIES, type Fields } from "../../lib/bounds.ts";
import type { CreateRequest } from "../../links/drafts.ts";
import { isProblem, type Refusal } from "../../links/problem.ts";
import { MAX_TARGET_LENGTH } from "../../links/target.ts";
import { refuseStart } from "../../links/terms/term-values.ts";
import { TERM_NAMES, TERMS } from "../../links/terms/terms.ts";
import { DURATIONS } from "../../links/time.ts";
import { message } from "../../locales/messages.ts";
import { dateWords, describeInForm, instantOf, MAX_SHOWN, parseForm, readForm, readTerms } from "../forms.ts";
import { type Field, FIELDS, type Home } from "./fields.tsx";
import { readPasted } from "./pasted-address.ts";

export type Form = Home["form"];

/** The submitted form. The token is never shown again. */
export interface Sent extends Form {
  readonly token: string;
  /** Whether the address is one of our offers. */
  readonly isMeant: boolean;
}

/** The request, and the mistakes in its dates. */
export interface Read {
  readonly request: CreateRequest;
  readonly refusals: readonly Refusal[];
}

export async function readHomeForm(request: Request): Promise<Sent | HttpProblem> {
  const fields = await readForm(request, BODIES["POST /"]);
  if (isProblem(fields)) return fields;
  return { ...formOf(fields), token: (fields.get("token") ?? "").trim(), isMeant: fields.has("meant") };
}

/** The form that a query fills in. The bookmarklet sends `original_url`; phones share a text that contains an address. */
export function formOfQuery(query: string): Form {
  const parameters = parseForm(query.slice(1));
  if (isProblem(parameters)) return EMPTY;
  const pageAddress = parameters.get("original_url") || readPasted(parameters.get("text") ?? "").address;
  return { ...formOf(parameters), original_url: pageAddress ?? "", form: "" };
}

export const EMPTY = eachField(() => "");

/** `meant` and `instead` are the buttons with our offers. Pasted values may have spaces around them. */
function formOf(fields: Fields): Form {
  const form = eachField((field) => {
    const text = fields.getAll(field).at(-1) ?? "";
    return isSecret(field) ? text : text.trim();
  });
  return {
    ...form,
    original_url: fields.get("meant") ?? form.original_url,
    custom_code: fields.get("instead") ?? form.custom_code,
  };
}

function isSecret(field: Field): boolean {
  return TERM_NAMES.some((name) => name === field && TERMS[name].kind === "secret");
}

/** The values that the fields show again, cut a little above the limit of each. */
export function shorten(form: Form): Form {
  const max = (field: Field) => (field === "original_url" ? MAX_TARGET_LENGTH + 1 : MAX_SHOWN);
  return eachField((field) => form[field].slice(0, max(field)));
}

function eachField(value: (field: Field) => string): Form {
  return Object.fromEntries(FIELDS.map((field) => [field, value(field)])) as Form;
}

/** The domain checks everything that can be parsed. */
export function readRequest(form: Form, nowMs: number): Read | Malformed {
  const { original_url, custom_code, expire_duration, expires_at, starts_at, zone } = form;
  const duration = DURATIONS.find((one) => one === expire_duration);
  const isDate = expire_duration === "date";
  if (duration === undefined && !isDate && expire_duration !== "")
    return malformed({ rule: "field.values", field: "expire_duration", values: DURATIONS.join(", ") });
  const endsMs = isDate ? instantOf(expires_at, zone) : undefined;
  const startsMs = starts_at === "" ? undefined : instantOf(starts_at, zone);
  const terms = readTerms((name) => form[name], { expires_at: duration ?? endsMs, starts_at: startsMs });
  const request: CreateRequest = { originalUrl: original_url, customCode: custom_code || undefined, terms };
  const refusals: Refusal[] = [
    ...(isDate && endsMs === undefined ? [{ rule: "expires_at.format" } as const] : []),
    ...(starts_at !== "" && startsMs === undefined ? [{ rule: "starts_at.format" } as const] : []),
    // API calls may arrive late. In the form this is a mistake, and would publish the link immediately.
    ...(startsMs === undefined ? [] : refuseStart(startsMs, nowMs)),
  ];
  return { request, refusals };
}

const WORDS = {
  "starts_at.past": "home.starts.past",
  "max_visits.range": "home.max-visits.wrong",
  "target.scheme": "home.not-address",
} as const;

export function describeRefusal(
  problem: HttpProblem,
  form: Form,
  isUnclear: boolean,
  language: string,
): Pick<Home, "errors" | "notice"> {
  if (problem.kind === "token.missing" || problem.kind === "token.wrong")
    return { errors: { token: message(language, "home.token.wrong") } };
  const words = {
    ...WORDS,
    ...dateWords(form.zone),
    ...(isUnclear && { "target.scheme": "home.unclear" as const }),
  };
  const description = describeInForm(problem, FIELDS, language, undefined, words);
  if (description.notice !== undefined || form.original_url !== "") return description;
  return { errors: { ...description.errors, original_url: message(language, "home.empty") } };
}
