import { type HttpProblem, type Malformed, malformed } from "../../http/problems.ts";
import type { CreateRequest } from "../../links/create.ts";
import { isProblem, type Refusal } from "../../links/problem.ts";
import { MAX_TARGET_LENGTH } from "../../links/target.ts";
import { refuseStart } from "../../links/terms.ts";
import { DURATIONS } from "../../links/time.ts";
import { message } from "../../locales/messages.ts";
import { type Field, FIELDS, type Home } from "../home/page.tsx";
import { parseForm, readFields, tellBeside } from "./form-data.ts";
import { readPasted } from "./pasted-address.ts";

/** What the fields of the form hold. */
export type Form = Home["form"];

/** The form as it arrives. The token is never shown again. */
export interface Sent extends Form {
  readonly token: string;
  /** Whether the address is one that the form offered. */
  readonly isMeant: boolean;
}

/** What the form asks for, and what is wrong with dates that cannot be read. */
export interface Read {
  readonly request: CreateRequest;
  readonly refusals: readonly Refusal[];
}

/** In UTF-16 units: enough for every spelling of a code. */
const MAX_SHOWN = 1024;
/** As browsers send `datetime-local` (WHATWG HTML, section 2.3.5.5). */
const LOCAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?$/;

/** Reads what the form sends. */
export async function readForm(request: Request): Promise<Sent | HttpProblem> {
  const sent = await readFields(request);
  if (isProblem(sent)) return sent;
  return { ...formOf(sent), token: (sent.get("token") ?? "").trim(), isMeant: sent.has("meant") };
}

/**
 * Reads what the query of an address fills the form with. The bookmarklet sends the address of a page as
 * `original_url`; phones share a text that has an address somewhere in it.
 */
export function formOfQuery(query: string): Form {
  const asked = parseForm(query);
  if (isProblem(asked)) return EMPTY;
  const shared = asked.get("original_url") || readPasted(asked.get("text") ?? "").address;
  return { ...formOf(asked), original_url: shared ?? "" };
}

export const EMPTY = eachField(() => "");

/** `meant` and `instead` are buttons that offer what the maker may have meant. The other values may have been pasted with spaces. */
function formOf(sent: URLSearchParams): Form {
  const form = eachField((field) => (sent.get(field) ?? "").trim());
  return {
    ...form,
    original_url: sent.get("meant") ?? form.original_url,
    custom_code: sent.get("instead") ?? form.custom_code,
    password: sent.get("password") ?? "",
  };
}

/** What the fields show again: no more than what each can hold, and a little, so that one sees it is too much. */
export function shortened(form: Form): Form {
  const max = (field: Field) => (field === "original_url" ? MAX_TARGET_LENGTH + 1 : MAX_SHOWN);
  return eachField((field) => form[field].slice(0, max(field)));
}

function eachField(value: (field: Field) => string): Form {
  return Object.fromEntries(FIELDS.map((field) => [field, value(field)])) as Form;
}

/** The domain checks all that can be read. */
export function readRequest(form: Form, nowMs: number): Read | Malformed {
  const { original_url, custom_code, expire_duration, expires, starts, max_visits, password, zone } = form;
  const duration = DURATIONS.find((one) => one === expire_duration);
  const isDate = expire_duration === "date";
  if (duration === undefined && !isDate && expire_duration !== "")
    return malformed({ rule: "field.values", field: "expire_duration", values: DURATIONS.join(", ") });
  const endsMs = isDate ? instantOf(expires, zone) : undefined;
  const startsMs = starts === "" ? undefined : instantOf(starts, zone);
  const request = {
    originalUrl: original_url,
    customCode: custom_code || undefined,
    expiry: duration ?? endsMs,
    starts: startsMs,
    // The domain refuses what is no number.
    maxVisits: max_visits === "" ? undefined : Number(/^\d{1,15}$/.exec(max_visits)?.[0]),
    password: password || undefined,
  };
  const refusals: Refusal[] = [
    ...(isDate && endsMs === undefined ? [{ rule: "expires.format" } as const] : []),
    ...(starts !== "" && startsMs === undefined ? [{ rule: "starts.format" } as const] : []),
    // A program may be late. Here it is a mistake, and would show the link to everybody at once.
    ...(startsMs === undefined ? [] : refuseStart(startsMs, nowMs)),
  ];
  return { request, refusals };
}

/** A local time in a zone, in Unix milliseconds. What the clocks skip or repeat there is the later or the earlier one. */
export function instantOf(local: string, zone: string): number | undefined {
  if (!LOCAL.test(local)) return undefined;
  try {
    return Temporal.PlainDateTime.from(local, { overflow: "reject" }).toZonedDateTime(zone || "UTC")
      .epochMilliseconds;
  } catch {
    return undefined;
  }
}

/** Where the words for programs would not help people. */
export const DATE_WORDS = {
  "expires.format": "home.date.wrong",
  "starts.format": "home.date.wrong",
} as const;
const WORDS = {
  ...DATE_WORDS,
  "starts.past": "home.starts.past",
  "max_visits.range": "home.max-visits.wrong",
} as const;

/** Says a problem beside the fields it is about, or above the form where it is about none of them. */
export function tellInForm(
  problem: HttpProblem,
  form: Form,
  isUnclear: boolean,
  language: string,
): Pick<Home, "errors" | "notice"> {
  if (problem.kind === "token.missing" || problem.kind === "token.wrong")
    return { errors: { token: message(language, "home.token.wrong") } };
  const words = isUnclear ? { ...WORDS, "target.scheme": "home.unclear" as const } : WORDS;
  const told = tellBeside(problem, FIELDS, language, undefined, words);
  if (told.notice !== undefined || form.original_url !== "") return told;
  return { errors: { ...told.errors, original_url: message(language, "home.empty") } };
}
