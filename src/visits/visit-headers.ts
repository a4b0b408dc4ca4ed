import Negotiator from "negotiator";

import { header } from "../lib/bounds.ts";
import { once } from "../lib/memoize.ts";
import { isPrivateHost } from "../links/target.ts";

/** In characters. Browsers send less than a hundred; sorting thousands of languages would take time. */
const MAX_LANGUAGES_LENGTH = 256;
/** ISO 639 codes that name no language. */
const NO_LANGUAGE = new Set(["mis", "mul", "und", "zxx"]);
/** Takes the authority out of a URL. Referrers of apps (`android-app://…`) have no host, so they do not match. */
const AUTHORITY = /^https?:\/\/([^/?#\\]{1,1024})(?:[/?#\\]|$)/i;
/** Host names with at least two labels, as all public ones have. RFC 1035, section 2.3.1, plus underscores. */
const PUBLIC_NAME = /^(?:[a-z0-9_-]{1,63}\.)+(?!\d+$)[a-z0-9-]{2,63}$/;
/** RFC 1035, section 2.3.4, without the trailing dot. */
const MAX_HOST_LENGTH = 253;
const PREFETCH = /prefetch|prerender|preview/i;

const names = once(() => new Intl.DisplayNames("en", { type: "language", fallback: "none" }));

/** The language that an `Accept-Language` prefers: an ISO 639 code of 2 or 3 lower-case letters, or "". */
export function preferredLanguage(acceptLanguage: string): string {
  const whole = acceptLanguage.slice(0, MAX_LANGUAGES_LENGTH + 1);
  // Drop the last entry if it may be cut off: half an entry can be another language.
  const ranges = whole.length > MAX_LANGUAGES_LENGTH ? whole.slice(0, whole.lastIndexOf(",") + 1) : whole;
  const [first = ""] = new Negotiator({ headers: { "accept-language": ranges } }).languages();
  const [, primary] = /^([a-z]{2,3})(?:-|$)/i.exec(first) ?? [];
  if (primary === undefined) return "";
  // Replaces withdrawn codes (iw, in) by the current ones (he, id).
  const [language = ""] = Intl.getCanonicalLocales(primary)[0]?.split("-") ?? [];
  return NO_LANGUAGE.has(language) || names().of(language) === undefined ? "" : language;
}

/**
 * The host of a `Referer` in lower case, without `www.`, other scripts in punycode. It is "" for IP addresses and
 * private names, because statistics should not reveal someone's intranet.
 */
export function referrerHost(referer: string): string {
  const [, authority] = AUTHORITY.exec(referer) ?? [];
  if (authority === undefined) return "";
  const host = URL.parse(`http://${authority}`)?.hostname.replace(/\.$/, "") ?? "";
  if (host.length > MAX_HOST_LENGTH || !PUBLIC_NAME.test(host) || isPrivateHost(host)) return "";
  const bare = host.replace(/^www\./, "");
  return bare.includes(".") ? bare : host;
}

/** Whether a browser that sent the request may show the response as a page (Fetch Metadata, section 2.1). */
export function isForPage(headers: Headers): boolean {
  const destination = header(headers, "sec-fetch-dest");
  // A browser that sends Sec-Fetch-Dest names a WebSocket there.
  return destination === null
    ? header(headers, "upgrade")?.toLowerCase() !== "websocket"
    : destination === "document" || destination === "iframe";
}

/**
 * Whether a browser fetches the page ahead ("Speculative Loading", section 5.1, and the header's earlier names). It
 * sends another request when the person follows the link.
 */
export function isPrefetch(headers: Headers): boolean {
  const purpose =
    header(headers, "sec-purpose") ?? header(headers, "purpose") ?? header(headers, "x-purpose");
  return purpose !== null && PREFETCH.test(purpose);
}
