import Negotiator from "negotiator";

import { memoize } from "../memoize.ts";
import type { Asked } from "./call.ts";
import { compress } from "./compression.ts";
import { pageLanguage } from "./page-language.ts";

const LOAD_NOTHING = "default-src 'none'; frame-ancestors 'none'";
const PAGE_POLICY = [
  "default-src 'none'",
  ...["script", "style", "img", "connect", "manifest"].map((kind) => `${kind}-src 'self'`),
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

type AnswerHeaders = Readonly<Record<string, string>>;

/** No page needs any of these features of the reader's device. */
const PERMISSIONS = "camera=(), geolocation=(), microphone=(), payment=(), usb=()";

export interface Answer {
  /** Default: 200. */
  readonly status?: number;
  readonly body?: string | Uint8Array;
  /** The media type of the body. */
  readonly type?: string;
  /** The Content-Security-Policy. Default: the body may load nothing. Null sends none, for plain text. */
  readonly policy?: string | null;
  /** Cache-Control of the body. Default: no-store. */
  readonly cache?: string;
  readonly headers?: AnswerHeaders;
}

/** Makes every response except redirects, so that no body is sent without the headers that protect its reader. */
export function answer({ status = 200, body, type, policy, cache, headers }: Answer): Response {
  const guards = type !== undefined && {
    "Content-Type": type,
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": cache ?? "no-store",
    ...(policy !== null && { "Content-Security-Policy": policy ?? LOAD_NOTHING }),
  };
  return new Response(body ?? null, { status, headers: { ...guards, ...headers } });
}

/** Compresses the text if the client accepts it. */
function textAnswer(call: Asked, text: string, { headers, ...rest }: Answer): Response {
  const { body, vary, ...coding } = compress(text, call.headers.get("accept-encoding"));
  const Vary = [headers?.["Vary"], vary].filter(Boolean).join(", ");
  return answer({ ...rest, body, headers: { ...headers, ...coding.headers, ...(Vary !== "" && { Vary }) } });
}

export function json(
  call: Asked,
  status: number,
  body: unknown,
  language: string,
  headers: AnswerHeaders = {},
): Response {
  return textAnswer(call, JSON.stringify(body), {
    status,
    type: "application/json",
    headers: { "Content-Language": language, Vary: "Accept-Language", ...headers },
  });
}

/** For pages that search engines may list. Browsers may keep them, but must revalidate before showing them. */
export const FINDABLE = { "X-Robots-Tag": "all", "Cache-Control": "private, no-cache" };

/** A page in the reader's language. Search engines may not list it unless `headers` say otherwise. */
export function html(
  call: Asked,
  status: number,
  render: (language: string) => string,
  headers: AnswerHeaders = {},
): Response {
  const { language, headers: ofLanguage } = pageLanguage(call.request);
  return textAnswer(call, render(language), {
    status,
    type: "text/html; charset=utf-8",
    policy: PAGE_POLICY,
    headers: {
      ...ofLanguage,
      "Content-Language": language,
      "Cross-Origin-Opener-Policy": "same-origin",
      "Cross-Origin-Resource-Policy": "same-origin",
      "Permissions-Policy": PERMISSIONS,
      "Referrer-Policy": "no-referrer",
      "X-Robots-Tag": "noindex",
      ...headers,
    },
  });
}

/** Reads `Accept` (RFC 9110, section 12.5.1). Clients that accept anything, as most programs do, get JSON. */
export function prefersHtml(accept: string | null): boolean {
  return accept !== null && htmlWins(accept);
}

const htmlWins = memoize((accept) => {
  const negotiator = new Negotiator({ headers: { accept } });
  return negotiator.mediaType(["application/json", "text/html"]) === "text/html";
}, false);
