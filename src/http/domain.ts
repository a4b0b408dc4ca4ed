import { memoize } from "../lib/memoize.ts";
import type { Identity } from "../pages/shared/layout.tsx";

/** The origin of short addresses. Each call has one, so that an instance could serve several domains. */
export interface Domain {
  /** The public origin as the operator wrote it, in readable Unicode, without a trailing slash. */
  readonly baseUrl: string;
  /** The same in ASCII. */
  readonly origin: string;
  readonly identity: Identity;
  /** The short address of a code, in readable Unicode. */
  shortUrl(code: string): string;
  /** The same as people see, copy and scan it: without the slash at its end. */
  shownUrl(code: string): string;
}

export function createDomain(baseUrl: string, identity: Identity): Domain {
  // # is the only character of codes that would end the path.
  const shownUrl = (code: string) => `${baseUrl}/${code.replaceAll("#", "%23")}`;
  return {
    baseUrl,
    identity,
    origin: new URL(baseUrl).origin,
    shownUrl,
    shortUrl: (code) => `${shownUrl(code)}/`,
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
