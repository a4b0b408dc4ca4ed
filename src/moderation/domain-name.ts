import type * as Tldts from "tldts";

import { once } from "../lib/memoize.ts";

/** Loaded when first needed, because the Public Suffix List takes a while to load and redirects do without. */
const tldts = once(() => require("tldts") as typeof Tldts);

/**
 * The suffixes under which companies let strangers register, such as github.io, count like co.uk. Hosts come from
 * `URL.hostname`, so they need no further parsing.
 */
const BY_THE_WHOLE_LIST = { allowPrivateDomains: true, extractHostname: false, validateHostname: false };
const BY_REGISTRIES = { ...BY_THE_WHOLE_LIST, allowPrivateDomains: false };

/**
 * The public suffix and one label more: `example.co.uk` for `www.example.co.uk`. An address, a public suffix and a name
 * without a dot are their own. Takes a host as in `URL.hostname`. By the Public Suffix List (https://publicsuffix.org).
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
