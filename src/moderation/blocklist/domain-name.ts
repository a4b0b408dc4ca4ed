import type * as Tldts from "tldts";

import { once } from "../../lib/memoize.ts";
import { canonicalHost } from "../../links/target.ts";

/** Loaded with the first use, because the Public Suffix List loads slowly and redirects don't need it. */
const tldts = once(() => require("tldts") as typeof Tldts);

/**
 * The suffixes under which companies let strangers register, such as github.io, count like co.uk. Hosts come from
 * `URL.hostname`, so they need no further parsing.
 */
const BY_THE_WHOLE_LIST = { allowPrivateDomains: true, extractHostname: false, validateHostname: false };
const BY_REGISTRIES = { ...BY_THE_WHOLE_LIST, allowPrivateDomains: false };

/** In characters. Real names have at most 253 (RFC 1035); normalizing a long one takes quadratic time. */
export const MAX_HOST_LENGTH = 1024;

/** Parses a host in any case, script or spelling of an address. Undefined if it is not a host. */
export function parseHost(written: string): string | undefined {
  const name = written.trim();
  if (name.length > MAX_HOST_LENGTH || !/^[^\s/\\?#@%]+$/.test(name)) return undefined;
  const isBareIpv6 = name.includes(":") && !name.startsWith("[");
  const url = URL.parse(`http://${isBareIpv6 ? `[${name}]` : name}/`);
  // A port would be part of an address, not of a host.
  if (url === null || url.host !== url.hostname || url.host === "") return undefined;
  const host = canonicalHost(url.hostname);
  return /^(?:\[[\da-f:]+\]|[\w-]+(?:\.[\w-]+)*)$/.test(host) ? host : undefined;
}

/**
 * The public suffix and one more label: `example.co.uk` for `www.example.co.uk`. Addresses, public suffixes and names
 * without a dot are returned as they are. Takes a host as in `URL.hostname`. Uses https://publicsuffix.org.
 */
export function registrableDomain(host: string): string {
  const name = host.endsWith(".") ? host.slice(0, -1) : host;
  return tldts().getDomain(name, BY_THE_WHOLE_LIST) ?? name;
}

/** Takes a host as in `URL.hostname`, where only the last part of an IPv4 address is a number. */
export function isAddress(host: string): boolean {
  return /^\[|(?:^|\.)\d+$/.test(host);
}

/** Whether the names below this host belong to different owners, as those below `co.uk` and `github.io` do. */
export function isPublicSuffix(host: string): boolean {
  const name = host.endsWith(".") ? host.slice(0, -1) : host;
  return tldts().getPublicSuffix(name, BY_THE_WHOLE_LIST) === name;
}

/** Whether a registry sells the names below this host to anybody, as those below `com` and `co.uk`. */
export function isRegistrySuffix(host: string): boolean {
  const { publicSuffix, isIcann } = tldts().parse(host, BY_REGISTRIES);
  return isIcann === true && publicSuffix === host;
}

/**
 * Public services that shorten any address, with the hosts below them. Shorteners for a company's own pages, such as
 * youtu.be, hide nothing. Only their platforms create links of t.co, t.cn, lnkd.in and naver.me, but to any destination.
 */
const SHORTENERS: ReadonlySet<string> = new Set(
  `bit.ly bitly.com j.mp bit.do tinyurl.com tiny.one t.co lnkd.in goo.gl is.gd v.gd ow.ly buff.ly dlvr.it ift.tt
  rebrand.ly cutt.ly shorturl.at t.ly rb.gy tiny.cc tr.im su.pr s.id soo.gd clck.ru u.to x.gd 1url.com urlz.fr qr.ae
  shrtco.de 9qr.de kutt.it dub.sh spoo.me short.gy short.io adf.ly bc.vc ouo.io shorte.st linkvertise.com
  me2.do naver.me han.gl vo.la url.kr zrr.kr c11.kr abit.ly lrl.kr buly.kr muz.so t2m.kr
  gg.gg n9.cl da.gd u.nu bl.ink tny.im qrco.de acortar.link reurl.cc ppt.cc pse.is goo.su vk.cc t.cn`.split(
    /\s+/,
  ),
);
/** Google's own links to maps and photos. */
const NOT_SHORTENERS: ReadonlySet<string> = new Set(["app.goo.gl"]);

/** Whether links to this host, as in `URL.hostname`, hide their destination. */
export function isShortener(host: string): boolean {
  for (let name = host.replace(/\.+$/, ""); name.includes("."); name = name.slice(name.indexOf(".") + 1)) {
    if (NOT_SHORTENERS.has(name)) return false;
    if (SHORTENERS.has(name)) return true;
  }
  return false;
}
