import Negotiator from "negotiator";

/** In characters. Browsers send tens; ordering thousands of ranges would cost. */
const MAX_LENGTH = 256;
/** ISO 639 codes that name no language. */
const NO_LANGUAGE = new Set(["mis", "mul", "und", "zxx"]);

const names = new Intl.DisplayNames("en", { type: "language", fallback: "none" });

/**
 * The language an `Accept-Language` prefers: an ISO 639 code of 2 or 3 lower-case letters ("ko" of
 * "ko-KR,ko;q=0.9"), or "".
 */
export function preferredLanguage(acceptLanguage: string): string {
  const whole = acceptLanguage.slice(0, MAX_LENGTH + 1);
  // A range that is cut in two would be another range.
  const ranges = whole.length > MAX_LENGTH ? whole.slice(0, whole.lastIndexOf(",") + 1) : whole;
  const [first = ""] = new Negotiator({ headers: { "accept-language": ranges } }).languages();
  const [, primary] = /^([a-z]{2,3})(?:-|$)/i.exec(first) ?? [];
  if (primary === undefined) return "";
  // Withdrawn codes (iw, in) are answered as those that replaced them (he, id).
  const [language = ""] = Intl.getCanonicalLocales(primary)[0]?.split("-") ?? [];
  return NO_LANGUAGE.has(language) || names.of(language) === undefined ? "" : language;
}
