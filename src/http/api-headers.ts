import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";

import { header } from "../lib/bounds.ts";
import { REASON_HEADER } from "./problem-reasons.ts";

/** Identifies a response and the log lines about it. */
export const REQUEST_ID = "Request-Id";

export const REQUEST_ID_LENGTH = { min: 8, max: 64 } as const;
/** Such as a UUID. Ids get into the log, so the form excludes addresses. */
const FORM = new RegExp(
  `^[A-Za-z0-9][A-Za-z0-9_-]{${REQUEST_ID_LENGTH.min - 1},${REQUEST_ID_LENGTH.max - 1}}$`,
);

/** The id that the caller gave its request, if it has the right form, or else a new one. */
export function requestIdOf(headers: Headers): string {
  const callerId = header(headers, "request-id");
  return callerId !== null && FORM.test(callerId) ? callerId : crypto.randomUUID();
}

/**
 * Opens the API to scripts of every origin, because browsers send no credentials by themselves. A preflight allows all request
 * headers, so that a script can send a token.
 */
const CORS = {
  origin: "*",
  allowMethods: ["GET", "HEAD", "POST", "PATCH", "DELETE"],
  exposeHeaders: [
    "Allow",
    "Content-Language",
    REASON_HEADER,
    "ETag",
    "Idempotent-Replayed",
    "Link",
    "Location",
    "RateLimit",
    "RateLimit-Policy",
    REQUEST_ID,
    "Retry-After",
    "WWW-Authenticate",
    "X-Poll-Interval",
  ],
  maxAge: 7200,
};

const EXPOSED_HEADERS = CORS.exposeHeaders.join();

/** Answers a preflight. */
export const preflight = cors(CORS);

/** Sets the headers after the handler. If set before, Hono would have to copy the response. */
export const forEveryOrigin: MiddlewareHandler = async (context, next) => {
  await next();
  allowEveryOrigin(context.res);
};

export function allowEveryOrigin({ headers }: Response): void {
  headers.set("Access-Control-Allow-Origin", CORS.origin);
  headers.set("Access-Control-Expose-Headers", EXPOSED_HEADERS);
}
