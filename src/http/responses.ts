import Negotiator from "negotiator";

import { header } from "../lib/bounds.ts";
import { memoize } from "../lib/memoize.ts";
import type { DetachedCall } from "./call.ts";
import { compress } from "./compression.ts";
import { pageLanguage } from "./page-language.ts";
import type { Page } from "./page.ts";

const LOAD_NOTHING = "default-src 'none'; frame-ancestors 'none'";
const PAGE_RULES = [
  "default-src 'none'",
  ...["script", "style", "img", "connect", "manifest"].map((kind) => `${kind}-src 'self'`),
  "base-uri 'none'",
  "frame-ancestors 'none'",
];
const PAGE_POLICY = PAGE_RULES.toSpliced(-2, 0, "form-action 'self'").join("; ");
/** For pages whose form is answered with a redirect elsewhere, because browsers apply `form-action` to redirects. */
export const FORM_REDIRECTS_ELSEWHERE = { "Content-Security-Policy": PAGE_RULES.join("; ") };

type AnswerHeaders = Readonly<Record<string, string>>;

/** No page needs these features of the reader's device. */
const PERMISSIONS = "camera=(), geolocation=(), microphone=(), payment=(), usb=()";

export interface Answer {
  /** Default: 200. */
  readonly status?: number;
  readonly body?: string | Uint8Array | ReadableStream<Uint8Array>;
  /** The media type of the body. */
  readonly type?: string;
  /** The Content-Security-Policy. Default: the body may load nothing. Null sends no policy, for plain text. */
  readonly policy?: string | null;
  /** Cache-Control of the body. Default: no-store. */
  readonly cache?: string;
  readonly headers?: AnswerHeaders;
}

/** Creates all responses except redirects and {@link json}, with the headers that protect readers of a body. */
export function answer({ status = 200, body, type, policy, cache, headers }: Answer): Response {
  const guards = type !== undefined && guardsOf(type, policy, cache);
  return new Response(body ?? null, { status, headers: { ...guards, ...headers } });
}

function guardsOf(type: string, policy: string | null = LOAD_NOTHING, cache = "no-store"): AnswerHeaders {
  return {
    "Content-Type": type,
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": cache,
    ...(policy !== null && { "Content-Security-Policy": policy }),
  };
}

/** Compressed if the client accepts it. */
export function json(
  call: DetachedCall,
  status: number,
  body: unknown,
  language: string,
  headers: AnswerHeaders = {},
): Response {
  const coded = compress(JSON.stringify(body), header(call.headers, "accept-encoding"));
  const response = new Response(coded.body, { status, headers: jsonHeaders(language) });
  for (const more of [headers, coded.headers ?? {}])
    for (const name in more) response.headers.set(name, more[name] ?? "");
  if (coded.vary !== undefined) response.headers.append("Vary", coded.vary);
  return response;
}

/** RFC 4180, with a row of names. Compressed if the client accepts it. */
export function csv(call: DetachedCall, body: string, headers: AnswerHeaders): Response {
  const coded = compress(body, header(call.headers, "accept-encoding"));
  const type = "text/csv; charset=utf-8; header=present";
  const response = answer({ body: coded.body, type, headers: { ...headers, ...coded.headers } });
  if (coded.vary !== undefined) response.headers.append("Vary", coded.vary);
  return response;
}

/** Copying these is three times as fast as reading an object. */
const jsonHeaders = memoize(
  (language) =>
    new Headers({
      ...guardsOf("application/json"),
      "Content-Language": language,
      Vary: "Accept-Language",
    }),
);

/** As {@link jsonHeaders}, for pages. */
const pageHeaders = memoize(
  (language) =>
    new Headers({
      ...guardsOf("text/html; charset=utf-8", PAGE_POLICY),
      "Content-Language": language,
      "Cross-Origin-Opener-Policy": "same-origin",
      "Cross-Origin-Resource-Policy": "same-origin",
      "Permissions-Policy": PERMISSIONS,
      "Referrer-Policy": "no-referrer",
      "X-Robots-Tag": "noindex",
    }),
);

/** For pages that search engines may list. Browsers may cache them, but must revalidate before use. */
export const FINDABLE = { "X-Robots-Tag": "all", "Cache-Control": "private, no-cache" };

/**
 * For the response to a refused form without secrets. With no-store, Chromium and Firefox show a dead page after Back, and with
 * `Cookie` in `Vary` Chromium does so once a cookie was set.
 */
export const KEPT_FOR_BACK = { "Cache-Control": "private, no-cache", Vary: "Accept-Language" };

/** A page in the reader's language. Search engines may not list it unless `headers` say otherwise. `code` compresses it. */
export function html(
  call: DetachedCall,
  status: number,
  render: (language: string) => Page,
  headers: AnswerHeaders = {},
  code: typeof compress = compress,
): Response {
  const { language, headers: ofLanguage } = pageLanguage(call.request);
  const coded = code(render(language)(call.domain.identity), header(call.headers, "accept-encoding"));
  const response = new Response(coded.body, { status, headers: pageHeaders(language) });
  for (const more of [ofLanguage, headers, coded.headers ?? {}])
    for (const name in more) response.headers.set(name, more[name] ?? "");
  if (coded.vary !== undefined) response.headers.append("Vary", coded.vary);
  return response;
}

/** Reads `Accept` (RFC 9110, section 12.5.1). Clients that accept anything get JSON. */
export function prefersHtml(accept: string | null): boolean {
  return accept !== null && htmlWins(accept);
}

/** Whether `Accept` prefers CSV to JSON. */
export function prefersCsv(accept: string | null): boolean {
  return accept !== null && csvWins(accept);
}

const csvWins = memoize(
  (accept) =>
    new Negotiator({ headers: { accept } }).mediaType(["application/json", "text/csv"]) === "text/csv",
  false,
);

const htmlWins = memoize((accept) => {
  const negotiator = new Negotiator({ headers: { accept } });
  return negotiator.mediaType(["application/json", "text/html"]) === "text/html";
}, false);

/** `Content-Disposition` for a file that is named after a code (RFC 6266, section 4.3). `name` is for old clients, in ASCII. */
export function fileName(
  kind: "inline" | "attachment",
  code: string,
  name: string,
  extension: string,
): string {
  if (/^[\w-]+$/.test(code)) return `${kind}; filename="${code}.${extension}"`;
  // RFC 8187, section 3.2.1. A code can have * in a keycap, which encodeURIComponent doesn't encode.
  const encoded = encodeURIComponent(code).replaceAll("*", "%2A");
  return `${kind}; filename="${name}.${extension}"; filename*=UTF-8''${encoded}.${extension}`;
}

/** Whether the caller already has this response (RFC 9110, section 13.1.2). `tag` includes its quotes. */
export function knowsAlready(headers: Headers, tag: string): boolean {
  const known = header(headers, "if-none-match");
  if (known === null) return false;
  const opaque = tag.replace(/^W\//, "");
  return known.trim() === "*" || known.match(/"[^"]*"/g)?.some((one) => one === opaque) === true;
}

/**
 * The strong tags that `If-Match` names (RFC 9110, section 13.1.1). Undefined if any will do. No tag will do with
 * `If-None-Match: *`, because the resource exists (section 13.1.2).
 */
export function requiredTags(headers: Headers): readonly string[] | undefined {
  if (header(headers, "if-none-match")?.trim() === "*") return [];
  const value = header(headers, "if-match", "");
  if (value === null || value.trim() === "*") return undefined;
  const tags = value.matchAll(/(W\/)?"([^"]*)"/g);
  return [...tags].flatMap(([, weak, tag = ""]) => (weak === undefined ? tag : []));
}

/** Answers 304 if the caller already has the response of this tag, and renders it otherwise. Problems don't get the tag. */
export async function tagged(
  { headers }: DetachedCall,
  ETag: string,
  render: () => Response | Promise<Response>,
): Promise<Response> {
  if (knowsAlready(headers, ETag)) return answer({ status: 304, headers: { ETag } });
  const response = await render();
  if (response.ok) response.headers.set("ETag", ETag);
  return response;
}

/**
 * The tag of a response that depends only on these parts. It is known before rendering, so a response that the caller has
 * isn't rendered again. If the coding may differ, put `W/` before it (RFC 9110, section 8.8.1).
 */
export function tagOf(parts: readonly unknown[]): string {
  return `"${Bun.hash(JSON.stringify(parts)).toString(36)}"`;
}
