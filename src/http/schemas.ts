import { createRoute, z } from "@hono/zod-openapi";

import { message } from "../language/language.ts";
import { MAX_CODE_POINTS } from "../links/code.ts";
import { DURATIONS } from "../links/expiry.ts";
import { MAX_TARGET_LENGTH } from "../links/target.ts";

/** In bytes. */
export const MAX_BODY_BYTES = 64 * 1024;

export const EXAMPLE = {
  original_url: "https://example.com/a/long/address",
  custom_code: "한글",
  expire_duration: "1week",
} as const;

/** Types only: the rules for codes and URLs are the domain's. */
export const shortenRequest = z
  .object({
    original_url: z.string().openapi({
      description: message("en", "info.original_url"),
      format: "uri",
      maxLength: MAX_TARGET_LENGTH,
      example: EXAMPLE.original_url,
    }),
    custom_code: z
      .string()
      .nullish()
      .openapi({
        description: message("en", "info.custom_code"),
        maxLength: MAX_CODE_POINTS,
        example: EXAMPLE.custom_code,
      }),
    expire_duration: z
      .enum(DURATIONS)
      .nullish()
      .openapi({
        description: message("en", "info.expire_duration"),
        example: EXAMPLE.expire_duration,
      }),
  })
  .openapi("ShortenRequest");

const text = z.string();
const success = <T extends z.ZodType>(data: T) =>
  z.strictObject({ status: z.literal("success"), message: text, data });

const shortLink = z
  .strictObject({
    short_url: text.openapi({ format: "iri", example: "https://curt.example/한글/" }),
    original_url: text.openapi({ description: "Exactly as sent.", example: EXAMPLE.original_url }),
    code: text.openapi({ example: EXAMPLE.custom_code }),
    expiration_date: text.openapi({
      format: "date-time",
      description: "The link ends at this instant; 9999-12-31T23:59:59.999Z for one without an end.",
    }),
  })
  .openapi("ShortLink");

const parameter = z.strictObject({
  name: text,
  type: text,
  required: z.boolean(),
  description: text,
  allowed_values: z.array(text).optional(),
  default: text.optional(),
  max_length: z.int().optional(),
});

const information = z
  .strictObject({
    name: text,
    version: text,
    description: text,
    endpoint: text.openapi({ format: "uri" }),
    method: text,
    content_type: text,
    max_body_bytes: z.int(),
    parameters: z.array(parameter),
    example: z.strictObject({
      request: z.strictObject({ original_url: text, custom_code: text, expire_duration: text }),
      response: z.strictObject({ status: z.literal("success"), message: text, data: shortLink }),
    }),
    openapi: text.openapi({ format: "uri" }),
  })
  .openapi("Information");

const problem = z.strictObject({ status: z.literal("error"), message: text }).openapi("Problem");

export type ShortLink = z.infer<typeof shortLink>;
export type Information = z.infer<typeof information>;

const jsonContent = <T extends z.ZodType>(schema: T) => ({ "application/json": { schema } });
const answer = <T extends z.ZodType>(description: string, schema: T) => ({
  description,
  content: jsonContent(schema),
});
const unavailable = {
  503: {
    ...answer("The store cannot answer right now.", problem),
    headers: z.object({ "Retry-After": text.openapi({ description: "Seconds to wait." }) }),
  },
};

/** The operations as the OpenAPI document tells them. */
export const operations = {
  shorten: createRoute({
    method: "post",
    path: "/api/v1/shorten",
    operationId: "shorten",
    summary: "Shorten a URL",
    request: { body: { required: true, content: jsonContent(shortenRequest) } },
    responses: {
      201: {
        ...answer("The link is made, and durable.", success(shortLink)),
        headers: z.object({ Location: text.openapi({ description: "The short address in ASCII." }) }),
      },
      400: answer("The body or a value in it is refused; the message names the field and the rule.", problem),
      409: answer("The code is already in use.", problem),
      413: answer(`The body has more than ${MAX_BODY_BYTES} bytes.`, problem),
      415: answer("The body is not declared as JSON.", problem),
      ...unavailable,
    },
  }),
  information: createRoute({
    method: "get",
    path: "/api/v1/shorten",
    operationId: "information",
    summary: "What the endpoint takes and answers",
    responses: { 200: answer("The endpoint and its parameters.", success(information)) },
  }),
  document: createRoute({
    method: "get",
    path: "/api/v1/openapi.json",
    operationId: "document",
    summary: "This document",
    responses: {
      200: { description: "OpenAPI 3.1", content: jsonContent(z.looseObject({ openapi: text })) },
    },
  }),
};
