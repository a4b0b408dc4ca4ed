import { memoize } from "../memoize.ts";

/** Where short addresses begin. Every call has one, so that one instance can serve several some day. */
export interface Domain {
  /** The public origin as the operator wrote it, in readable Unicode, without a slash at its end. */
  readonly baseUrl: string;
  /** The same in ASCII. */
  readonly origin: string;
  /** The short address of a code, in readable Unicode. */
  shortUrl(code: string): string;
}

export function createDomain(baseUrl: string): Domain {
  return {
    baseUrl,
    origin: new URL(baseUrl).origin,
    // The only character a code can have that would end a path is #.
    shortUrl: (code) => `${baseUrl}/${code.replaceAll("#", "%23")}/`,
  };
}

/** Makes a text that depends on the domain and the language only once for each of them. */
export function memoizeByDomain<T>(make: (domain: Domain, language: string) => T) {
  const made = new WeakMap<Domain, (language: string) => T>();
  return (domain: Domain, language: string): T => {
    const known = made.get(domain) ?? memoize((wanted) => make(domain, wanted));
    made.set(domain, known);
    return known(language);
  };
}
