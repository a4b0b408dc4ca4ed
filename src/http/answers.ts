import Negotiator from "negotiator";

import { STYLE_SOURCE } from "../pages/layout.tsx";
import { remembering } from "../remembering.ts";

/** Nothing we answer by ourselves may be sniffed, framed, kept by a cache or load anything from elsewhere. */
const COMMON = { "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store" };
export const JSON_POLICY = "default-src 'none'; frame-ancestors 'none'";
const PAGE_POLICY = `default-src 'none'; style-src ${STYLE_SOURCE}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

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
      "Content-Security-Policy": JSON_POLICY,
      Vary: "Accept-Language",
      ...headers,
    },
  });
}

export function html(
  status: number,
  page: string,
  language: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(page, {
    status,
    headers: {
      ...COMMON,
      "Content-Type": "text/html; charset=utf-8",
      "Content-Language": language,
      "Content-Security-Policy": PAGE_POLICY,
      "Referrer-Policy": "no-referrer",
      "X-Robots-Tag": "noindex",
      Vary: "Accept-Language",
      ...headers,
    },
  });
}

/** RFC 9110, section 12.5.1. A program that takes anything gets JSON. */
export function prefersHtml(accept: string | null): boolean {
  return accept !== null && htmlWins(accept);
}

const htmlWins = remembering((accept) => {
  const negotiator = new Negotiator({ headers: { accept } });
  return negotiator.mediaType(["application/json", "text/html"]) === "text/html";
});
