import { message } from "../../language/messages.ts";
import { isProblem } from "../../links/problem.ts";
import { MAX_TARGET_LENGTH } from "../../links/target.ts";
import { type Field, FIELDS, type Home } from "../../pages/home.tsx";
import type { HttpProblem } from "../problems.ts";
import { parseForm, readFields, tellBeside } from "./fields.ts";

/** What the fields of the form hold. */
export type Form = Home["form"];

/** The form as it arrives. The token is never shown again. */
export interface Sent extends Form {
  readonly token: string;
}

/** In UTF-16 units: enough for every spelling of a code. */
const MAX_SHOWN_CODE = 1024;

/** Reads what the form sends. */
export async function readForm(request: Request): Promise<Sent | HttpProblem> {
  const sent = await readFields(request);
  return isProblem(sent) ? sent : { ...formOf(sent), token: (sent.get("token") ?? "").trim() };
}

/**
 * Reads what the query of an address fills the form with. The bookmarklet sends the address of a page as
 * `original_url`; phones share a text that has an address somewhere in it.
 */
export function formOfQuery(query: string): Form {
  const asked = parseForm(query);
  if (isProblem(asked)) return EMPTY;
  const shared = asked.get("original_url") || /https?:\/\/\S+/i.exec(asked.get("text") ?? "")?.[0];
  return { ...formOf(asked), original_url: shared ?? "" };
}

export const EMPTY: Form = { original_url: "", custom_code: "", expire_duration: "" };

/** `meant` is the button that offers what the maker may have meant. The other values may have been pasted with spaces. */
function formOf(sent: URLSearchParams): Form {
  const text = (field: Field) => (sent.get(field) ?? "").trim();
  return {
    original_url: sent.get("meant") ?? text("original_url"),
    custom_code: text("custom_code"),
    expire_duration: text("expire_duration"),
  };
}

/** What the fields show again: no more than what each can hold, and a little, so that one sees it is too much. */
export function shortened(form: Form): Form {
  const { original_url, custom_code, expire_duration } = form;
  return {
    original_url: original_url.slice(0, MAX_TARGET_LENGTH + 1),
    custom_code: custom_code.slice(0, MAX_SHOWN_CODE),
    expire_duration: expire_duration.slice(0, MAX_SHOWN_CODE),
  };
}

/** Says a problem beside the fields it is about, or above the form where it is about none of them. */
export function tellInForm(
  problem: HttpProblem,
  form: Form,
  language: string,
): Pick<Home, "errors" | "notice"> {
  if (problem.kind === "token.missing" || problem.kind === "token.wrong")
    return { errors: { token: message(language, "home.token.wrong") } };
  const told = tellBeside(problem, FIELDS, language);
  if (told.notice !== undefined || form.original_url !== "") return told;
  return { errors: { ...told.errors, original_url: message(language, "home.empty") } };
}

/** People write naver.com for https://naver.com. A host that ends in a number is a mistake, or private. */
export function offerFor(written: string): string | undefined {
  if (!/^[^\s/?#:@\\]+\.[^\s/?#:@\\.]{2,}(?::\d+)?(?:[/?#]|$)/.test(written)) return undefined;
  const offer = `https://${written}`;
  const url = URL.parse(offer);
  return url !== null && url.href.length <= MAX_TARGET_LENGTH && /\.[^.]*[a-z][^.]*$/.test(url.hostname)
    ? offer
    : undefined;
}
