import { memoize } from "../lib/memoize.ts";
import { type CodeCase, codeInAddress, isPlain, type LinkKey, splitKey } from "../links/code.ts";
import { canonicalHost, keyPrefixOf } from "../links/target.ts";
import type { Identity } from "./page.ts";

/** An origin of short addresses with its own codes. Each call has one. */
export interface Domain {
  /** Precedes its codes in the store: its host and a slash, "" for BASE_URL. */
  readonly keyPrefix: string;
  /** The same for all domains. */
  readonly codeCase: CodeCase;
  /** The public origin as the operator wrote it, in readable Unicode, without a trailing slash. */
  readonly baseUrl: string;
  /** The same in ASCII. */
  readonly origin: string;
  readonly identity: Identity;
  /** Where `/` sends visitors, if not to the form. */
  readonly homeUrl: string | undefined;
  /** The short address of a code, in readable Unicode. */
  shortUrl(code: string): string;
  /** The same in ASCII. */
  asciiUrl(code: string): string;
  /** The address that people see, copy and scan: without the slash at its end. */
  shownUrl(code: string): string;
  /** The domain of this instance with a host, in any spelling. */
  find(host: string): Domain | undefined;
  /** The domain of a key. Undefined if it is no longer in DOMAINS. */
  ofKey(key: LinkKey): Domain | undefined;
}

interface Origins extends Pick<Domain, "baseUrl" | "codeCase"> {
  readonly domains: readonly string[];
  readonly homeUrls?: readonly HomeUrl[];
}

/** A site of the operator, for one host or for all that no other names. */
interface HomeUrl {
  readonly host: string | undefined;
  readonly url: string;
}

/** Creates the domains of an instance, BASE_URL first. `withHome`: the identity of those with a home elsewhere. */
export function createDomains(
  { baseUrl, domains, codeCase, homeUrls = [] }: Origins,
  identity: Identity,
  withHome = identity,
): readonly [Domain, ...Domain[]] {
  const find = (host: string) => byHost.get(hostOf(host) ?? "");
  const ofKey = (key: LinkKey) => all.find((one) => one.keyPrefix === splitKey(key).keyPrefix);
  const homeUrlOf = (host: string | undefined) => homeUrls.find((home) => home.host === host)?.url;
  const create = (origin: string, keyPrefix: string) => {
    const homeUrl = homeUrlOf(hostOf(new URL(origin).host)) ?? homeUrlOf(undefined);
    return {
      ...createDomain(origin, homeUrl === undefined ? identity : withHome),
      keyPrefix,
      codeCase,
      homeUrl,
      find,
      ofKey,
    };
  };
  const all: readonly [Domain, ...Domain[]] = [
    create(baseUrl, ""),
    ...domains.map((origin) => create(origin, keyPrefixOf(origin))),
  ];
  const byHost = new Map(all.toReversed().map((one) => [hostOf(new URL(one.origin).host), one]));
  return all;
}

/** In characters: a name of 253 (RFC 1035, section 2.3.4) and a port. Normalizing a long one takes quadratic time. */
const MAX_HOST_LENGTH = 259;

/** The host of a `Host` header. */
function hostOf(written: string): string | undefined {
  if (written.length > MAX_HOST_LENGTH) return undefined;
  const url = /[/\\?#@]/.test(written) ? null : URL.parse(`http://${written}`);
  return url === null ? undefined : canonicalHost(url.hostname);
}

function createDomain(baseUrl: string, identity: Identity) {
  const { origin } = new URL(baseUrl);
  const shownUrl = (code: string) => `${baseUrl}/${codeInAddress(code)}`;
  const shortUrl = (code: string) => `${shownUrl(code)}/`;
  return {
    baseUrl,
    identity,
    origin,
    shownUrl,
    shortUrl,
    // Most codes need no parsing, which takes as long as creating the response.
    asciiUrl: (code: string) => (isPlain(code) ? `${origin}/${code}/` : new URL(shortUrl(code)).href),
  };
}

/** Caches results per domain and language. */
export function memoizeByDomain<T>(create: (domain: Domain, language: string) => T) {
  const caches = new WeakMap<Domain, (language: string) => T>();
  return (domain: Domain, language: string): T => {
    const cache = caches.get(domain) ?? memoize((one) => create(domain, one));
    caches.set(domain, cache);
    return cache(language);
  };
}
