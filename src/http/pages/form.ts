import { message } from "../../language/messages.ts";
import { isProblem } from "../../links/problem.ts";
import { MAX_TARGET_LENGTH } from "../../links/target.ts";
import { type Field, FIELDS, type Home } from "../../pages/home.tsx";
import { readText } from "../body.ts";
import { describe, type HttpProblem, type Malformed, malformed } from "../problems.ts";

/** What the fields of the form hold. */
export type Form = Home["form"];

/** In UTF-16 units: enough for every spelling of a code. */
const MAX_SHOWN_CODE = 1024;
/** Ours has four. Reading the 30,000 that fit into a body would take as long as 300 redirects. */
const MAX_FIELDS = 100;

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

/** Reads what the form sends (WHATWG URL, section 5: application/x-www-form-urlencoded). */
export async function readForm(request: Request): Promise<Form | HttpProblem> {
  const type = request.headers.get("content-type") ?? "";
  if (!FORM_TYPE.test(type.trim())) return { kind: "body.form" };
  const text = await readText(request);
  if (isProblem(text)) return text;
  const sent = parseForm(text);
  return isProblem(sent) ? sent : formOf(sent);
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

/**
 * Reads the first {@link MAX_FIELDS} fields. Refuses what is not UTF-8 once percent-decoded: the parser puts U+FFFD in
 * its place, and a form in another encoding would make a link that leads elsewhere than its maker said.
 */
function parseForm(text: string): URLSearchParams | Malformed {
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

/** Says a problem beside the fields it is about, or above the form where it is about none of them. */
export function tellInForm(
  problem: HttpProblem,
  form: Form,
  language: string,
): Pick<Home, "errors" | "notice"> {
  const errors: Partial<Record<Field, string>> = {};
  for (const { field, key, values } of describe(problem).messages) {
    const text = message(language, key, values);
    const inForm = FIELDS.find((one) => one === field);
    if (inForm === undefined) return { errors: {}, notice: text };
    errors[inForm] = text;
  }
  if (form.original_url === "") errors.original_url = message(language, "home.empty");
  return { errors };
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
