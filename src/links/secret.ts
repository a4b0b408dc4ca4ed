import { createCipheriv, createDecipheriv, timingSafeEqual } from "node:crypto";

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
  | "seal"
  | "seal-key"
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

/** Encrypts texts in addresses, so that nobody reads or forges them. The nonce is a keyed hash (SIV, as in RFC 5297). */
export function createSeal({ hash }: Pick<Secret, "hash">) {
  const bytesOf = (purpose: Purpose, ...parts: string[]) => Buffer.from(hash(purpose, parts), "base64url");
  const key = bytesOf("seal-key");
  return {
    seal(text: string): string {
      const nonce = bytesOf("seal", text);
      const hidden = createCipheriv("aes-128-ctr", key, nonce).update(text);
      return Buffer.concat([nonce, hidden]).toString("base64url");
    },
    /** Undefined for every text that isn't sealed. */
    open(sealed: string): string | undefined {
      const bytes = Buffer.from(sealed, "base64url");
      const nonce = bytes.subarray(0, HASH_BYTES);
      if (nonce.length < HASH_BYTES) return undefined;
      const text = createDecipheriv("aes-128-ctr", key, nonce).update(bytes.subarray(HASH_BYTES)).toString();
      return bytesOf("seal", text).equals(nonce) ? text : undefined;
    },
  };
}
