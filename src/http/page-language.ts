import { cookies, header } from "../lib/bounds.ts";
import { LANGUAGES, negotiateLanguage } from "../locales/messages.ts";
import { parametersOf, queryOf } from "./url.ts";

/** Holds only a language. Set for readers who chose one. */
const COOKIE = "language";
const YEAR_SECONDS = 365 * 86_400;

export interface PageLanguage {
  readonly language: string;
  /** `Vary`, and the cookie if the browser should remember the language. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The language of a page, by `?language=` in its address, the cookie, or `Accept-Language`, in this order. */
export function pageLanguage(request: Request): PageLanguage {
  const chosen = urlLanguage(request);
  const headers = { Vary: "Accept-Language, Cookie" };
  if (chosen === undefined) {
    const negotiated = negotiateLanguage(header(request.headers, "accept-language"));
    return { language: cookieLanguage(request.headers) ?? negotiated, headers };
  }
  // Remember choices on our own pages (Fetch Metadata, section 2.4), and of readers who open the address themselves. A shared
  // address with ?language= doesn't change the language that a reader chose.
  const cameFrom = header(request.headers, "sec-fetch-site", "?") ?? "same-origin";
  const isFirst = cameFrom === "none" && cookieLanguage(request.headers) === undefined;
  if (cameFrom !== "same-origin" && !isFirst) return { language: chosen, headers };
  const options = { path: "/", maxAge: YEAR_SECONDS, sameSite: "lax", httpOnly: true } as const;
  return {
    language: chosen,
    headers: { ...headers, "Set-Cookie": new Bun.Cookie(COOKIE, chosen, options).serialize() },
  };
}

/** The language in the address. */
export function urlLanguage(request: Request): string | undefined {
  return queryOf(request) === "" ? undefined : supportedLanguage(parametersOf(request).get("language"));
}

/** The language in the cookie. */
export function cookieLanguage(headers: Headers): string | undefined {
  return headers.has("cookie") ? supportedLanguage(cookies(headers, COOKIE)[0]) : undefined;
}

function supportedLanguage(language: string | null | undefined): string | undefined {
  return LANGUAGES.find((one) => one === language);
}
