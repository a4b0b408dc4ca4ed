import { createRoute, z } from "@hono/zod-openapi";

import type { MessageKey } from "../../language/messages.ts";
import { PATHS } from "./paths.ts";
import {
  availabilityResponse,
  EXAMPLE,
  informationResponse,
  linkResponse,
  problem,
  qrQuery,
  REPORT_EXAMPLE,
  reportRequest,
  reportResponse,
  shortenRequest,
  shortenResponse,
  statisticsQuery,
  statisticsResponse,
} from "./schemas.ts";

// As in schemas.ts, every description and summary is the key of a message.

/** Descriptions of the tags. Generators turn the names into names of modules and classes. */
export const TAGS = {
  Links: "api.tag.links",
  Statistics: "api.tag.statistics",
  Reports: "api.tag.reports",
  "QR codes": "api.tag.qr",
  Reference: "api.tag.reference",
} as const satisfies Record<string, MessageKey>;

const tagged = (tag: keyof typeof TAGS) => ({ tags: [tag] });

const text = z.string();
const { original_url, expire_duration } = EXAMPLE;
const EXAMPLE_BODY = { original_url, expire_duration };

const codeParameter = z.object({
  code: text.openapi({
    param: { name: "code", in: "path" },
    description: "api.code",
    example: EXAMPLE.custom_code,
  }),
});

const jsonContent = <T extends z.ZodType>(schema: T) => ({ "application/json": { schema } });
const answer = <T extends z.ZodType>(description: MessageKey, schema: T) => ({
  description,
  content: jsonContent(schema),
});
const anyProblem = { default: answer("api.problem", problem) };
const retryAfter = { "Retry-After": z.int().nonnegative().openapi({ description: "api.retry-after" }) };
/** Sent if the limit is on. */
const rateLimit = {
  "RateLimit-Policy": text.optional().openapi({
    description: "api.rate-limit-policy",
    example: '"create";q=30;w=60',
  }),
  RateLimit: text.optional().openapi({ description: "api.rate-limit", example: '"create";r=29;t=2' }),
};
/** For operations that a limit applies to. */
const limited = {
  429: { ...answer("api.limited", problem), headers: z.object({ ...retryAfter, ...rateLimit }) },
};
/** For operations that need the store. */
const unavailable = {
  ...limited,
  503: { ...answer("api.unavailable", problem), headers: z.object(retryAfter) },
  ...anyProblem,
};
/** For operations without input. A service of an older version answers 404, because it does not have them. */
const missing = { 404: answer("not-found", problem), ...limited, ...anyProblem };
const countedAnswer = <T extends z.ZodType>(description: MessageKey, schema: T) => ({
  ...answer(description, schema),
  headers: z.object(rateLimit),
});

const image = (type: string) => ({
  ...tagged("QR codes"),
  description: "api.qr.description",
  request: { params: codeParameter, query: qrQuery },
  responses: {
    200: {
      description: "api.qr.answer",
      headers: z.object(rateLimit),
      content: { [type]: { schema: text.openapi({ format: "binary" }) } },
    },
    400: answer("api.parameter.refused", problem),
    404: answer("unknown", problem),
    410: answer("api.ended", problem),
    ...unavailable,
  },
});

/** The operations as the OpenAPI document tells them. */
export const operations = {
  shorten: createRoute({
    ...tagged("Links"),
    method: "post",
    path: PATHS.shorten,
    operationId: "createLink",
    summary: "api.shorten",
    description: "api.shorten.description",
    request: {
      body: {
        required: true,
        // Without a code: it would be in use as soon as one reader has sent the example.
        content: { "application/json": { schema: shortenRequest, example: EXAMPLE_BODY } },
      },
    },
    responses: {
      201: {
        ...answer("api.made", shortenResponse),
        headers: z.object({
          Location: text.openapi({ format: "uri", description: "api.location" }),
          ...rateLimit,
        }),
      },
      400: answer("api.body.refused", problem),
      409: answer("api.taken", problem),
      413: answer("api.body.too-large", problem),
      415: answer("api.body.type", problem),
      ...unavailable,
    },
  }),
  information: createRoute({
    ...tagged("Reference"),
    method: "get",
    path: PATHS.shorten,
    operationId: "getApiInformation",
    summary: "api.information",
    description: "api.information.description",
    responses: { 200: countedAnswer("api.information.answer", informationResponse), ...missing },
  }),
  availability: createRoute({
    ...tagged("Links"),
    method: "get",
    path: PATHS.availability,
    operationId: "checkCode",
    summary: "api.availability",
    description: "api.availability.description",
    request: { params: codeParameter },
    responses: {
      200: countedAnswer("api.availability.answer", availabilityResponse),
      400: answer("api.availability.refused", problem),
      ...unavailable,
    },
  }),
  link: createRoute({
    ...tagged("Links"),
    method: "get",
    path: PATHS.link,
    operationId: "getLink",
    summary: "api.link",
    description: "api.link.description",
    request: { params: codeParameter },
    responses: {
      200: {
        ...answer("link", linkResponse),
        headers: z.object({
          "X-Poll-Interval": z.int().positive().openapi({ description: "api.poll-interval" }),
          ...rateLimit,
        }),
      },
      404: answer("unknown", problem),
      410: answer("disabled.deleted", problem),
      ...unavailable,
    },
  }),
  statistics: createRoute({
    ...tagged("Statistics"),
    method: "get",
    path: PATHS.statistics,
    operationId: "getStatistics",
    summary: "api.stats",
    description: "api.stats.description",
    request: { params: codeParameter, query: statisticsQuery },
    responses: {
      200: countedAnswer("api.stats.answer", statisticsResponse),
      400: answer("api.parameter.refused", problem),
      404: answer("unknown", problem),
      410: answer("disabled.deleted", problem),
      ...unavailable,
    },
  }),
  report: createRoute({
    ...tagged("Reports"),
    method: "post",
    path: PATHS.report,
    operationId: "reportLink",
    summary: "api.report",
    description: "api.report.description",
    request: {
      params: codeParameter,
      body: {
        required: true,
        content: { "application/json": { schema: reportRequest, example: REPORT_EXAMPLE } },
      },
    },
    responses: {
      202: countedAnswer("api.report.answer", reportResponse),
      400: answer("api.body.refused", problem),
      403: answer("api.report.cross-site", problem),
      404: answer("unknown", problem),
      410: answer("api.report.deleted", problem),
      413: answer("api.body.too-large", problem),
      415: answer("api.body.type", problem),
      ...unavailable,
    },
  }),
  follow: createRoute({
    ...tagged("Links"),
    method: "get",
    path: "/{code}",
    operationId: "followLink",
    summary: "api.follow",
    description: "api.follow.description",
    request: { params: codeParameter },
    responses: {
      302: {
        description: "api.follow.answer",
        headers: z.object({ Location: text.openapi({ format: "uri", description: "api.follow.location" }) }),
      },
      404: answer("unknown", problem),
      410: answer("api.ended", problem),
      ...unavailable,
    },
  }),
  qrSvg: createRoute({
    method: "get",
    path: PATHS.qrSvg,
    operationId: "getQrCodeSvg",
    summary: "api.qr.svg",
    ...image("image/svg+xml"),
  }),
  qrPng: createRoute({
    method: "get",
    path: PATHS.qrPng,
    operationId: "getQrCodePng",
    summary: "api.qr.png",
    ...image("image/png"),
  }),
  document: createRoute({
    ...tagged("Reference"),
    method: "get",
    path: PATHS.document,
    operationId: "getOpenApiDocument",
    summary: "api.document",
    description: "api.document.description",
    responses: {
      200: {
        description: "api.document.answer",
        headers: z.object(rateLimit),
        content: jsonContent(z.looseObject({ openapi: text }).openapi("OpenApiDocument")),
      },
      ...missing,
    },
  }),
};

/** The security scheme of services that make links only for those who have their token. */
export const TOKEN_SCHEME = { name: "token", scheme: { type: "http", scheme: "bearer" } } as const;

/** `shorten` at such a service. */
export const shortenWithToken = createRoute({
  ...operations.shorten,
  security: [{ [TOKEN_SCHEME.name]: [] }],
  responses: {
    ...operations.shorten.responses,
    401: {
      ...answer("api.token", problem),
      headers: z.object({ "WWW-Authenticate": text.openapi({ description: "api.token.scheme" }) }),
    },
  },
});
