import { createRoute, z } from "@hono/zod-openapi";

import type { MessageKey } from "../../language/messages.ts";
import {
  availability,
  EXAMPLE,
  information,
  linkData,
  problem,
  qrQuery,
  shortenRequest,
  shortLink,
  statistics,
  statisticsQuery,
} from "./schemas.ts";

// As in schemas.ts, every description and summary is the key of a message.

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

const success = <T extends z.ZodType>(message: MessageKey, data: T) =>
  z.strictObject({
    status: z.literal("success"),
    message: text.openapi({ example: `{${message}}` }),
    data,
  });

const jsonContent = <T extends z.ZodType>(schema: T) => ({ "application/json": { schema } });
const answer = <T extends z.ZodType>(description: MessageKey, schema: T) => ({
  description,
  content: jsonContent(schema),
});
const unavailable = {
  503: {
    ...answer("api.unavailable", problem),
    headers: z.object({ "Retry-After": text.openapi({ description: "api.retry-after" }) }),
  },
};

const image = (type: string) => ({
  request: { params: codeParameter, query: qrQuery },
  responses: {
    200: {
      description: "api.qr.answer",
      content: { [type]: { schema: text.openapi({ format: "binary" }) } },
    },
    400: answer("api.parameter.refused", problem),
    404: answer("unknown", problem),
    410: answer("api.qr.ended", problem),
    ...unavailable,
  },
});

/** The operations as the OpenAPI document tells them. */
export const operations = {
  shorten: createRoute({
    method: "post",
    path: "/api/v1/shorten",
    operationId: "shorten",
    summary: "api.shorten",
    request: {
      body: {
        required: true,
        // Without a code: it would be in use as soon as one reader has sent the example.
        content: { "application/json": { schema: shortenRequest, example: EXAMPLE_BODY } },
      },
    },
    responses: {
      201: {
        ...answer("api.made", success("shortened", shortLink)),
        headers: z.object({ Location: text.openapi({ description: "api.location" }) }),
      },
      400: answer("api.body.refused", problem),
      409: answer("api.taken", problem),
      413: answer("api.body.too-large", problem),
      415: answer("api.body.type", problem),
      ...unavailable,
    },
  }),
  information: createRoute({
    method: "get",
    path: "/api/v1/shorten",
    operationId: "information",
    summary: "api.information",
    responses: { 200: answer("api.information.answer", success("info", information)) },
  }),
  availability: createRoute({
    method: "get",
    path: "/api/v1/codes/{code}",
    operationId: "availability",
    summary: "api.availability",
    description: "api.availability.description",
    request: { params: codeParameter },
    responses: {
      200: answer("api.availability.answer", success("free", availability)),
      400: answer("api.availability.refused", problem),
      ...unavailable,
    },
  }),
  link: createRoute({
    method: "get",
    path: "/api/v1/links/{code}",
    operationId: "link",
    summary: "api.link",
    description: "api.link.description",
    request: { params: codeParameter },
    responses: {
      200: answer("link", success("link", linkData)),
      404: answer("unknown", problem),
      ...unavailable,
    },
  }),
  statistics: createRoute({
    method: "get",
    path: "/api/v1/links/{code}/stats",
    operationId: "statistics",
    summary: "api.stats",
    request: { params: codeParameter, query: statisticsQuery },
    responses: {
      200: answer("api.stats.answer", success("statistics", statistics)),
      400: answer("api.parameter.refused", problem),
      404: answer("unknown", problem),
      ...unavailable,
    },
  }),
  qrSvg: createRoute({
    method: "get",
    path: "/{code}.svg",
    operationId: "qrSvg",
    summary: "api.qr.svg",
    ...image("image/svg+xml"),
  }),
  qrPng: createRoute({
    method: "get",
    path: "/{code}.png",
    operationId: "qrPng",
    summary: "api.qr.png",
    ...image("image/png"),
  }),
  document: createRoute({
    method: "get",
    path: "/api/v1/openapi.json",
    operationId: "document",
    summary: "api.document",
    responses: {
      200: { description: "api.document.answer", content: jsonContent(z.looseObject({ openapi: text })) },
    },
  }),
};
