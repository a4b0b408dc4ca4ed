import { header } from "../lib/bounds.ts";
import { REASON_HEADER } from "./problem-reasons.ts";
import { answer } from "./responses.ts";

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

/** Response headers of the public API and its images that scripts of other origins may read. */
const EXPOSED_HEADERS = [
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
].join();
/** In seconds. */
const PREFLIGHT_VALID = 7200;

/** Lets scripts of one origin, or of all with "*", read a response (WHATWG Fetch, section 3.3). Browsers send no credentials. */
export function allowOrigin({ headers }: Response, origin: string): void {
  headers.set("Access-Control-Allow-Origin", origin);
  if (origin !== "*") headers.append("Vary", "Origin");
  headers.set("Access-Control-Expose-Headers", EXPOSED_HEADERS);
}

/** Answers a preflight. Undefined for other requests. Allows the requested headers, so that a script can send a token. */
export function answerPreflight({ method, headers }: Request): Response | undefined {
  if (method !== "OPTIONS" || !headers.has("access-control-request-method")) return undefined;
  const requested = header(headers, "access-control-request-headers");
  return answer({
    status: 204,
    headers: {
      "Access-Control-Max-Age": String(PREFLIGHT_VALID),
      "Access-Control-Allow-Methods": "GET,HEAD,POST,PATCH,DELETE",
      ...(requested !== null && {
        "Access-Control-Allow-Headers": requested.split(/\s*,\s*/).join(),
        Vary: "Access-Control-Request-Headers",
      }),
    },
  });
}
