import type * as Tldts from "tldts";

import { once } from "../lib/memoize.ts";

/** Loaded with the first use, because the Public Suffix List loads slowly and redirects don't need it. */
const tldts = once(() => require("tldts") as typeof Tldts);

/**
 * The suffixes under which companies let strangers register, such as github.io, count like co.uk. Hosts come from
 * `URL.hostname`, so they need no further parsing.
 */
const BY_THE_WHOLE_LIST = { allowPrivateDomains: true, extractHostname: false, validateHostname: false };
const BY_REGISTRIES = { ...BY_THE_WHOLE_LIST, allowPrivateDomains: false };

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
