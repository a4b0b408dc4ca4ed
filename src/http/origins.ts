import { header } from "../lib/bounds.ts";
import { isLoopback, type Posture } from "../links/target.ts";
import type { Call } from "./call.ts";

interface OriginOptions {
  readonly posture: Posture;
  /** Whether creating a link needs a token. */
  readonly needsToken: boolean;
  /** The setting ORIGINS. */
  readonly origins: readonly string[];
}

/** Returns the value of `Access-Control-Allow-Origin`. Undefined: no scripts of the call's origin may use the API. */
export type AdmitOrigin = (call: Call) => string | undefined;

/**
 * Only colleagues reach a private service without a token, but any website that they open could read and create links through
 * their browsers. Pages on loopback may use a service on loopback, for development.
 */
export function createOriginCheck({ posture, needsToken, origins }: OriginOptions): AdmitOrigin {
  if (posture === "public" || needsToken) return () => "*";
  // Browsers send origins in ASCII.
  const named = new Set(origins.map((origin) => new URL(origin).origin));
  return ({ headers, domain }) => {
    const origin = header(headers, "origin");
    if (origin === null) return undefined;
    return named.has(origin) || [origin, domain.origin].every(isOnLoopback) ? origin : undefined;
  };
}

function isOnLoopback(origin: string): boolean {
  const url = URL.parse(origin);
  return url !== null && isLoopback(url.hostname);
}
