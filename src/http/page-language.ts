import { serialize } from "hono/utils/cookie";

import { LANGUAGES, negotiateLanguage } from "../language/messages.ts";
import { queryOf } from "./url.ts";

/** It says a language and nothing else, and only who chose one has it. */
const COOKIE = "language";
const REMEMBERED = new RegExp(`(?:^|;) *${COOKIE}=([\\w-]+) *(?:;|$)`);
const YEAR_SECONDS = 365 * 86_400;

export interface PageLanguage {
  readonly language: string;
  /** What makes the browser remember it, where the address asked for it. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The language of a page: that which its address asks for, else the remembered one, else by `Accept-Language`. */
export function pageLanguage(request: Request): PageLanguage {
  const query = queryOf(request);
  const asked = query === "" ? undefined : known(new URLSearchParams(query).get("language"));
  const headers = { Vary: "Accept-Language, Cookie" };
  if (asked === undefined) {
    const negotiated = negotiateLanguage(request.headers.get("accept-language"));
    return { language: rememberedLanguage(request.headers) ?? negotiated, headers };
  }
  // A link that somebody shared with its ?language= chooses for one page only (Fetch Metadata, section 2.4).
  const cameFrom = request.headers.get("sec-fetch-site");
  if (cameFrom !== null && cameFrom !== "same-origin") return { language: asked, headers };
  const options = { path: "/", maxAge: YEAR_SECONDS, sameSite: "Lax", httpOnly: true } as const;
  return { language: asked, headers: { ...headers, "Set-Cookie": serialize(COOKIE, asked, options) } };
}

/** The language that a reader chose before. */
export function rememberedLanguage(headers: Headers): string | undefined {
  const cookie = headers.get("cookie");
  return cookie === null ? undefined : known(REMEMBERED.exec(cookie)?.[1]);
}

function known(language: string | null | undefined): string | undefined {
  return LANGUAGES.find((one) => one === language);
}
