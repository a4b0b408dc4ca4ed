import type { Call } from "../http/call.ts";
import type { HttpProblem } from "../http/problems.ts";
import { clientNetwork } from "../lib/client-address.ts";
import type { RepeatableRequest } from "../links/create.ts";
import { isProblem } from "../links/problem.ts";
import type { Secret } from "../links/secret.ts";

const PRINTABLE = /^[\x20-\x7E]{1,255}$/;
/** A string of RFC 9651, section 3.3.3. */
const STRING = /^"((?:[^"\\]|\\["\\])*)"$/;
/** Most clients send a bare UUID. With a quote or a comma, it could be a string or a list. */
const BARE = /^[^",]+$/;

/** Identifies a request by its path and body, so that its retries are recognized. */
export type Identify = (path: string, body: string) => RepeatableRequest;

/**
 * Reads `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07, section 2.1). Undefined without one. Keys
 * belong to the client's network. Call this before you await anything, see {@link Call.client}.
 */
export function readIdempotencyKey(
  call: Call,
  secret: Pick<Secret, "hash">,
): Identify | undefined | HttpProblem {
  const value = call.headers.get("idempotency-key");
  if (value === null) return undefined;
  const key = parseKey(value);
  if (isProblem(key)) return key;
  const client = clientNetwork(call.client().address);
  return (path, body) => ({
    key: secret.hash("request", [client, key]),
    body: secret.hash("body", [path, body]),
  });
}

/** A string and the same text without quotes are one key. */
export function parseKey(value: string): string | HttpProblem {
  const key = STRING.exec(value)?.[1]?.replaceAll(/\\(["\\])/g, "$1") ?? BARE.exec(value)?.[0] ?? "";
  return PRINTABLE.test(key) ? key : { kind: "idempotency.format" };
}
