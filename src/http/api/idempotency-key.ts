import type { HttpProblem } from "../problems.ts";

const PRINTABLE = /^[\x20-\x7E]{1,255}$/;
/** A string of RFC 9651, section 3.3.3. */
const STRING = /^"((?:[^"\\]|\\["\\])*)"$/;
/** What most clients send, a UUID for example. With a quote or a comma, it could be a string or a list. */
const BARE = /^[^",]+$/;

/**
 * Reads `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07, section 2.1). Undefined if there is none. A string
 * and the same text without quotes are one key.
 */
export function readIdempotencyKey(headers: Headers): string | undefined | HttpProblem {
  const value = headers.get("idempotency-key");
  if (value === null) return undefined;
  const key = STRING.exec(value)?.[1]?.replaceAll(/\\(["\\])/g, "$1") ?? BARE.exec(value)?.[0] ?? "";
  return PRINTABLE.test(key) ? key : { kind: "idempotency.format" };
}
