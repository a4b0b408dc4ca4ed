import { isPrivateHost } from "../links/target.ts";

/** Takes the authority out of a URL. Referrers of apps (`android-app://…`) have no host, so they do not match. */
const AUTHORITY = /^https?:\/\/([^/?#\\]{1,1024})(?:[/?#\\]|$)/i;
/** Host names with at least two labels, as all public ones have. RFC 1035, section 2.3.1, plus underscores. */
const PUBLIC_NAME = /^(?:[a-z0-9_-]{1,63}\.)+(?!\d+$)[a-z0-9-]{2,63}$/;
/** RFC 1035, section 2.3.4, without the trailing dot. */
const MAX_HOST_LENGTH = 253;

/**
 * Returns the host of a `Referer` in lower case, without `www.`, other scripts in punycode. Returns "" if there is
 * none, and for IP addresses and private names, because statistics should not reveal someone's intranet.
 */
export function referrerHost(referer: string): string {
  const [, authority] = AUTHORITY.exec(referer) ?? [];
  if (authority === undefined) return "";
  const host = URL.parse(`http://${authority}`)?.hostname.replace(/\.$/, "") ?? "";
  if (host.length > MAX_HOST_LENGTH || !PUBLIC_NAME.test(host) || isPrivateHost(host)) return "";
  const bare = host.replace(/^www\./, "");
  return bare.includes(".") ? bare : host;
}
