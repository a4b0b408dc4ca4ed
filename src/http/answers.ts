import Negotiator from "negotiator";

import { memoize } from "../memoize.ts";
import type { Call } from "./call.ts";
import { pageLanguage } from "./page-language.ts";

/** Nothing we answer by ourselves may be sniffed, framed, kept by a cache or load anything from elsewhere. */
const COMMON = { "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store" };
/** Of what is no page. */
export const LOAD_NOTHING = "default-src 'none'; frame-ancestors 'none'";
const PAGE_POLICY = [
  "default-src 'none'",
  ...["script", "style", "img", "connect", "manifest"].map((kind) => `${kind}-src 'self'`),
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Of a page that search engines and browsers may keep, and ask again before they show it. */
export const FINDABLE = { "X-Robots-Tag": "all", "Cache-Control": "private, no-cache" };

export function json(
  status: number,
  body: unknown,
  language: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      ...COMMON,
      "Content-Type": "application/json",
      "Content-Language": language,
      "Content-Security-Policy": LOAD_NOTHING,
      Vary: "Accept-Language",
      ...headers,
    },
  });
}

/** A page in its reader's language. Search engines are kept out unless `headers` say otherwise. */
export function html(
  call: Call,
  status: number,
  render: (language: string) => string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const { language, headers: ofLanguage } = pageLanguage(call.request);
  return new Response(render(language), {
    status,
    headers: {
      ...COMMON,
      ...ofLanguage,
      "Content-Type": "text/html; charset=utf-8",
      "Content-Language": language,
      "Content-Security-Policy": PAGE_POLICY,
      "Cross-Origin-Opener-Policy": "same-origin",
      "Referrer-Policy": "no-referrer",
      "X-Robots-Tag": "noindex",
      ...headers,
    },
  });
}

/** RFC 9110, section 12.5.1. A program that takes anything gets JSON. */
export function prefersHtml(accept: string | null): boolean {
  return accept !== null && htmlWins(accept);
}

const htmlWins = memoize((accept) => {
  const negotiator = new Negotiator({ headers: { accept } });
  return negotiator.mediaType(["application/json", "text/html"]) === "text/html";
});
