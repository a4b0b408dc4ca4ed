import { timingSafeEqual } from "node:crypto";

import type { Link } from "./link.ts";

/** What manage keys, cookies, records of requests and noise are made with. All processes of an instance share it. */
export interface Secret {
  /** A keyed hash of 128 bits, in base64url. Hashes for different purposes have nothing in common. */
  hash(purpose: Purpose, parts: readonly (string | number)[]): string;
  /** The key to manage a link: whoever has it may change and end the link. Nothing of it is stored. */
  manageKey(link: Pick<Link, "code" | "createdMs">): string;
  /** Takes the same time for every text, so that nobody can guess bit by bit. */
  isManageKey(given: string, link: Pick<Link, "code" | "createdMs">): boolean;
}

type Purpose = "compare" | "made" | "manage" | "password" | "password-check" | "request" | "body" | "noise";

const HASH_BYTES = 16;

export function createSecret(key: Uint8Array): Secret {
  // A copy takes half the time of a new one.
  const keyed = new Bun.CryptoHasher("sha256", key);

  function digest(purpose: Purpose, parts: readonly (string | number)[]): Buffer {
    return keyed
      .copy()
      .update(JSON.stringify([purpose, ...parts]))
      .digest();
  }
  const hash = (purpose: Purpose, parts: readonly (string | number)[]) =>
    digest(purpose, parts).toString("base64url", 0, HASH_BYTES);
  const manageKey = ({ code, createdMs }: Pick<Link, "code" | "createdMs">) =>
    hash("manage", [code, createdMs]);

  return {
    hash,
    manageKey,
    isManageKey(given, link) {
      const expected = manageKey(link);
      // Hashes have one length, which timingSafeEqual needs.
      return timingSafeEqual(digest("compare", [given]), digest("compare", [expected]));
    },
  };
}
