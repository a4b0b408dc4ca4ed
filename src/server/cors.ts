import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";

import { REASON_HEADER } from "../http/problem-reasons.ts";
import { REQUEST_ID } from "../http/request-id.ts";

/**
 * Open to scripts of every origin: browsers send no credentials of their own. A preflight's request headers are all
 * allowed, so that a script can send a token.
 */
const CORS = {
  origin: "*",
  allowMethods: ["GET", "HEAD", "POST", "PATCH", "DELETE"],
  exposeHeaders: [
    "Allow",
    "Content-Language",
    REASON_HEADER,
    "ETag",
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

/** Set after the answer is made: before it, Hono would have to copy the response. */
export const forEveryOrigin: MiddlewareHandler = async (context, next) => {
  await next();
  allowEveryOrigin(context.res);
};

export function allowEveryOrigin({ headers }: Response): void {
  headers.set("Access-Control-Allow-Origin", CORS.origin);
  headers.set("Access-Control-Expose-Headers", EXPOSED_HEADERS);
}
