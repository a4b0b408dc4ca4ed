import { timingSafeEqual } from "node:crypto";

import type { Code, LinkKey } from "./code.ts";
import type { LinkId } from "./link-store.ts";
import type { Terms } from "./link.ts";

type Purpose =
  | "compare"
  | "form"
  | "made"
  | "manage"
  | "password"
  | "password-check"
  | "request"
  | "body"
  | "noise";

export const HASH_BYTES = 16;

export interface Secret<Id extends Code | LinkKey = Code> {
  /** A keyed hash of 128 bits, in base64url. Hashes for different purposes have nothing in common. */
  hash(purpose: Purpose, parts: readonly (string | number)[]): string;
  /** The key to manage a link: its holder may change and end the link. It is not stored. */
  manageKey(link: KeyedLink<Id>): string;
  /** Takes the same time for every text, so that nobody can guess the key bit by bit. */
  isManageKey(given: string, link: KeyedLink<Id>): boolean;
}

/** A link with the generation of its keys. */
export type KeyedLink<Id extends Code | LinkKey = LinkKey> = LinkId<Id> & {
  readonly terms?: Pick<Terms, "keys"> | undefined;
};

/** Derives manage keys, cookies, records of requests and noise from the key that all processes share. */
export function createSecret(key: Uint8Array): Secret<LinkKey> {
  // A copy takes half the time of a new one.
  const keyed = new Bun.CryptoHasher("sha256", key);

  function digest(purpose: Purpose, parts: readonly (string | number)[]): Buffer {
    return keyed
      .copy()
      .update(JSON.stringify([purpose, ...parts]))
      .digest();
  }
  const hash = (purpose: Purpose, parts: readonly (string | number)[]): string =>
    digest(purpose, parts).toString("base64url", 0, HASH_BYTES);
  const manageKey = ({ code, createdMs, terms: { keys } = {} }: KeyedLink): string =>
    hash("manage", keys === undefined ? [code, createdMs] : [code, createdMs, keys]);

  return {
    hash,
    manageKey,
    isManageKey(given, link) {
      const expected = manageKey(link);
      // timingSafeEqual needs two values of the same length.
      return timingSafeEqual(digest("compare", [given]), digest("compare", [expected]));
    },
  };
}
