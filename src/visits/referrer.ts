import { isPrivateHost } from "../links/target.ts";

/** Scheme and authority; a referrer from an app (`android-app://…`) names no host. */
const AUTHORITY = /^https?:\/\/([^/?#\\]{1,1024})(?:[/?#\\]|$)/i;
/** Names only, and public ones have two labels or more (RFC 1035, section 2.3.1, with the _ of service names). */
const PUBLIC_NAME = /^(?:[a-z0-9_-]{1,63}\.)+(?!\d+$)[a-z0-9-]{2,63}$/;
/** RFC 1035, section 2.3.4, without the dot at the end. */
const MAX_HOST_LENGTH = 253;

/**
 * The site a `Referer` names: its host in ASCII lower case, without `www.`, IDN in punycode. "" where it has
 * none, and for addresses and names from inside a network, which would tell about someone's intranet.
 */
export function referrerHost(referer: string): string {
  const [, authority] = AUTHORITY.exec(referer) ?? [];
  if (authority === undefined) return "";
  const host = URL.parse(`http://${authority}`)?.hostname.replace(/\.$/, "") ?? "";
  if (host.length > MAX_HOST_LENGTH || !PUBLIC_NAME.test(host) || isPrivateHost(host)) return "";
  const bare = host.replace(/^www\./, "");
  return bare.includes(".") ? bare : host;
}
