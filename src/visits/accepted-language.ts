import Negotiator from "negotiator";

import { once } from "../lib/memoize.ts";

/** In characters. Browsers send less than a hundred; sorting thousands of languages would take time. */
const MAX_LENGTH = 256;
/** ISO 639 codes that name no language. */
const NO_LANGUAGE = new Set(["mis", "mul", "und", "zxx"]);

const names = once(() => new Intl.DisplayNames("en", { type: "language", fallback: "none" }));

/**
 * Returns the language that an `Accept-Language` prefers ("ko" for "ko-KR,ko;q=0.9"): an ISO 639 code of 2 or 3
 * lower-case letters, or "" if there is none.
 */
export function preferredLanguage(acceptLanguage: string): string {
  const whole = acceptLanguage.slice(0, MAX_LENGTH + 1);
  // Drop the last entry if it may be cut off: half an entry can be another language.
  const ranges = whole.length > MAX_LENGTH ? whole.slice(0, whole.lastIndexOf(",") + 1) : whole;
  const [first = ""] = new Negotiator({ headers: { "accept-language": ranges } }).languages();
  const [, primary] = /^([a-z]{2,3})(?:-|$)/i.exec(first) ?? [];
  if (primary === undefined) return "";
  // Replaces withdrawn codes (iw, in) by the current ones (he, id).
  const [language = ""] = Intl.getCanonicalLocales(primary)[0]?.split("-") ?? [];
  return NO_LANGUAGE.has(language) || names().of(language) === undefined ? "" : language;
}
