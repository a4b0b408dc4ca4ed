import { createRoute, z } from "@hono/zod-openapi";

import type { MessageKey } from "../../language/messages.ts";
import { linkResponse } from "./link-schemas.ts";
import { makeOperations } from "./make-operations.ts";
import { PATHS } from "./paths.ts";
import {
  answer,
  countedAnswer,
  failed,
  jsonContent,
  missing,
  rateLimit,
  refused,
  unavailable,
} from "./responses.ts";
import {
  availabilityResponse,
  EXAMPLE,
  informationResponse,
  qrQuery,
  REPORT_EXAMPLE,
  reportRequest,
  reportResponse,
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

const codeParameter = z.object({
  code: text.openapi({
    param: { name: "code", in: "path" },
    description: "api.code",
    example: EXAMPLE.custom_code,
  }),
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
    400: refused("api.parameter.refused"),
    404: failed("unknown"),
    410: failed("api.ended"),
    ...unavailable,
  },
});

/** The operations as the OpenAPI document tells them. */
export const operations = {
  ...makeOperations,
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
      400: refused("api.availability.refused"),
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
      404: failed("unknown"),
      410: failed("disabled.deleted"),
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
      400: refused("api.parameter.refused"),
      404: failed("unknown"),
      410: failed("disabled.deleted"),
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
      400: refused("api.body.refused"),
      403: failed("api.report.cross-site"),
      404: failed("unknown"),
      410: failed("api.report.deleted"),
      413: failed("api.body.too-large"),
      415: failed("api.body.type"),
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
      404: failed("unknown"),
      410: failed("api.ended"),
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
