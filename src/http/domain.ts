import { memoize } from "../lib/memoize.ts";
import type { Identity } from "../pages/shared/branding.ts";

/** The beginning of short addresses. Every call has its own, so that one instance can serve several in the future. */
export interface Domain {
  /** The public origin as the operator wrote it, in readable Unicode, without a trailing slash. */
  readonly baseUrl: string;
  /** The same in ASCII. */
  readonly origin: string;
  readonly identity: Identity;
  /** The short address of a code, in readable Unicode. */
  shortUrl(code: string): string;
}

export function createDomain(baseUrl: string, identity: Identity): Domain {
  return {
    baseUrl,
    identity,
    origin: new URL(baseUrl).origin,
    // Of the characters that can be in a code, only # would end the path.
    shortUrl: (code) => `${baseUrl}/${code.replaceAll("#", "%23")}/`,
  };
}

/** Remembers what was made for each domain and language. */
export function memoizeByDomain<T>(make: (domain: Domain, language: string) => T) {
  const made = new WeakMap<Domain, (language: string) => T>();
  return (domain: Domain, language: string): T => {
    const known = made.get(domain) ?? memoize((wanted) => make(domain, wanted));
    made.set(domain, known);
    return known(language);
  };
}
