import { createRoute, z } from "@hono/zod-openapi";

import { linkOperations } from "./link-operations.ts";
import { makeOperations } from "./make-operations.ts";
import { codeParameter, KEY_HELPS, tagged } from "./operation.ts";
import { PATHS } from "./paths.ts";
import { countedAnswer, failed, jsonContent, missing, rateLimit, refused, unavailable } from "./responses.ts";
import {
  availabilityResponse,
  informationResponse,
  qrQuery,
  REPORT_EXAMPLE,
  reportRequest,
  reportResponse,
  statisticsQuery,
  statisticsResponse,
} from "./schemas.ts";

// As in schemas.ts, every description and summary is the key of a message.

const text = z.string();

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
  ...linkOperations,
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
  statistics: createRoute({
    ...tagged("Statistics"),
    method: "get",
    path: PATHS.statistics,
    operationId: "getStatistics",
    summary: "api.stats",
    description: "api.stats.description",
    security: KEY_HELPS,
    request: { params: codeParameter, query: statisticsQuery },
    responses: {
      200: {
        description: "api.stats.answer",
        headers: z.object(rateLimit),
        content: {
          ...jsonContent(statisticsResponse),
          "text/csv": { schema: text, example: "dimension,value,visits,bots\r\nday,2026-11-21,100,0\r\n" },
        },
      },
      400: refused("api.parameter.refused"),
      403: failed("api.key.wrong"),
      404: failed("unknown"),
      410: failed("api.gone"),
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
      401: failed("api.password", {
        "WWW-Authenticate": text.openapi({ description: "api.password.scheme" }),
      }),
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
