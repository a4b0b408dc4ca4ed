// Shared by the OpenAPI entries of several endpoints. Every description and summary is the key of a message, which openapi.ts
// replaces by its text. In an example, {base} is this service's address, and any other name in braces a message.
import type { RouteConfig } from "@asteasolutions/zod-to-openapi";

import { REASON_HEADER, PROBLEM_REASONS } from "../../http/problem-reasons.ts";
import type { MessageKey } from "../../locales/messages.ts";
import { SCHEMES } from "./description.ts";
import { z } from "./schema.ts";

/** An OpenAPI entry. The address of the endpoint has its method and path. */
export type Entry = Omit<RouteConfig, "method" | "path">;

export const EXAMPLE = {
  original_url: "https://example.com/a/long/address",
  custom_code: "한글",
  expire_duration: "1week",
} as const;

export const string = z.string();
export const instant = (description: MessageKey, example?: string) =>
  string.openapi({ format: "date-time", description, ...(example !== undefined && { example }) });
export const count = (description: MessageKey, example?: number) =>
  z
    .int()
    .nonnegative()
    .openapi({ format: "int64", description, ...(example !== undefined && { example }) });
export const codeField = string.openapi({ description: "api.link.code", example: EXAMPLE.custom_code });
export const shortUrl = string.openapi({
  format: "iri",
  description: "api.short.short_url",
  example: `{base}/${EXAMPLE.custom_code}/`,
});

/** Inside `lazy`, a named schema stays a `$ref` where it is nullable or has another description; else it is copied. */
export const reference = <T extends z.ZodType>(schema: T) => z.lazy(() => schema);

export const codeParameter = z.object({
  code: string.openapi({
    param: { name: "code", in: "path" },
    description: "api.code",
    example: EXAMPLE.custom_code,
  }),
});

/** The revision of a link (RFC 9110, section 8.8.3). */
export const etag = { ETag: string.openapi({ description: "api.etag", example: '"2k3f9x1b7q0a"' }) };
export const ifMatch = z.object({
  "If-Match": string.optional().openapi({ description: "api.if-match", example: '"2k3f9x1b7q0a"' }),
});

/** The security scheme of what only the maker of a link may do. */
export const KEY_SCHEME = {
  name: SCHEMES.key,
  scheme: { type: "http", scheme: "bearer", description: "api.key.scheme" },
} as const;
export const KEY_NEEDED = [{ [KEY_SCHEME.name]: [] }];
/** The response has more in it for whoever has the key. */
export const KEY_HELPS = [{}, ...KEY_NEEDED];

export const jsonContent = <T extends z.ZodType>(schema: T) => ({ "application/json": { schema } });
export const jsonBody = <T extends z.ZodType>(schema: T, example: object) => ({
  required: true,
  content: { "application/json": { schema, example } },
});

/** Sent if the limit is on. */
export const rateLimit = {
  "RateLimit-Policy": string.optional().openapi({
    description: "api.rate-limit-policy",
    example: '"create";q=30;w=60',
  }),
  RateLimit: string.optional().openapi({ description: "api.rate-limit", example: '"create";r=29;t=2' }),
};
export const returns = <T extends z.ZodType>(
  description: MessageKey,
  schema: T,
  headers: z.ZodRawShape = {},
) => ({
  description,
  content: jsonContent(schema),
  headers: z.object({ ...headers, ...rateLimit }),
});

const reason = z.enum(PROBLEM_REASONS).openapi("ProblemReason");
/** Mistakes in a request, for programs. */
export const errors = z
  .array(
    z
      .object({
        field: string.nullable().openapi({ description: "api.error.field", example: "code" }),
        reason: reference(reason),
        message: string.openapi({ example: "{taken}" }),
      })
      .openapi("ProblemDetail"),
  )
  .openapi({ description: "api.errors" });
const text = { status: z.literal("error"), message: string.openapi({ example: "{taken}" }) };
const problem = z.object({ ...text, errors }).openapi("Problem");
/** The contract fixes its keys. */
export const shortenProblem = z.strictObject(text).openapi("ShortenProblem");

const withReason =
  (schema: z.ZodType) =>
  (description: MessageKey, headers: z.ZodRawShape = {}) => ({
    description,
    content: jsonContent(problem),
    headers: z.object({ [REASON_HEADER]: schema, ...headers }),
  });
export const failure = withReason(reference(reason).openapi({ description: "api.reason" }));
/** Refuses what the caller sent, perhaps for several reasons. */
export const refusal = withReason(
  string.openapi({ description: "api.reasons", example: "target.scheme, code.space" }),
);

const retryAfter = { "Retry-After": z.int().nonnegative().openapi({ description: "api.retry-after" }) };
const limited = { 429: failure("api.limited", { ...retryAfter, ...rateLimit }) };
const other = { default: failure("api.problem") };
/** Failures of endpoints that need the store. */
export const storeFailures = { ...limited, 503: failure("api.unavailable", retryAfter), ...other };
/** Failures of endpoints that look up a link, with the message about one that is over. */
export const linkFailures = (over: MessageKey) => ({
  404: failure("unknown"),
  410: failure(over),
  ...storeFailures,
});
/** Failures of endpoints without input. A service of an older version answers 404, because it doesn't have them. */
export const plainFailures = { 404: failure("not-found"), ...limited, ...other };

/** `WWW-Authenticate` of a 401. */
export const authenticate = (description: MessageKey) => ({
  "WWW-Authenticate": string.openapi({ description }),
});
/** Failures of endpoints that need the manage key. */
export const keyFailures = (wrongKey: MessageKey) => ({
  401: failure("api.key", authenticate("api.token.scheme")),
  403: failure(wrongKey),
  412: failure("precondition.failed", etag),
  ...linkFailures("api.over"),
});
/** Failures of endpoints that read a body. */
export const bodyFailures = {
  400: refusal("api.body.refused"),
  413: failure("api.body.too-large"),
  415: failure("api.body.type"),
};
