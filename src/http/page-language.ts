import { serialize } from "hono/utils/cookie";

import { LANGUAGES, negotiateLanguage } from "../locales/messages.ts";
import { queryOf } from "./url.ts";

/** Holds a language, nothing else. Only set for readers who have chosen one. */
const COOKIE = "language";
const REMEMBERED = new RegExp(`(?:^|;) *${COOKIE}=([\\w-]+) *(?:;|$)`);
const YEAR_SECONDS = 365 * 86_400;

export interface PageLanguage {
  readonly language: string;
  /** `Vary`, and the cookie if the browser should remember the language. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The language of a page: `?language=` in its address, else the remembered one, else by `Accept-Language`. */
export function pageLanguage(request: Request): PageLanguage {
  const asked = askedLanguage(request);
  const headers = { Vary: "Accept-Language, Cookie" };
  if (asked === undefined) {
    const negotiated = negotiateLanguage(request.headers.get("accept-language"));
    return { language: rememberedLanguage(request.headers) ?? negotiated, headers };
  }
  // Only remember a choice made on our own pages (Fetch Metadata, section 2.4). If somebody shares an address with its
  // ?language=, the reader sees that page in that language but keeps their own.
  const cameFrom = request.headers.get("sec-fetch-site");
  if (cameFrom !== null && cameFrom !== "same-origin") return { language: asked, headers };
  const options = { path: "/", maxAge: YEAR_SECONDS, sameSite: "Lax", httpOnly: true } as const;
  return { language: asked, headers: { ...headers, "Set-Cookie": serialize(COOKIE, asked, options) } };
}

/** The language that the address asks for. */
export function askedLanguage(request: Request): string | undefined {
  const query = queryOf(request);
  return query === "" ? undefined : known(new URLSearchParams(query).get("language"));
}

/** The language that a reader chose before. */
export function rememberedLanguage(headers: Headers): string | undefined {
  const cookie = headers.get("cookie");
  return cookie === null ? undefined : known(REMEMBERED.exec(cookie)?.[1]);
}

function known(language: string | null | undefined): string | undefined {
  return LANGUAGES.find((one) => one === language);
}
