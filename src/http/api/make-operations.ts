import { createRoute, z } from "@hono/zod-openapi";

import { SCHEMES } from "../../pages/reference/openapi.ts";
import {
  LINK_EXAMPLES,
  linkRequests,
  linkResults,
  SHORTEN_EXAMPLES,
  shortenRequests,
  shortenResults,
} from "./batch-schemas.ts";
import { LINK_EXAMPLE, linkRequest, madeResponse } from "./link-schemas.ts";
import { tagged } from "./operation.ts";
import { PATHS } from "./paths.ts";
import { answer, failed, rateLimit, refused, unavailable } from "./responses.ts";
import { EXAMPLE, shortenRequest, shortenResponse, text } from "./schemas.ts";

// The operations that make links. As in schemas.ts, every description and summary is the key of a message.

const { original_url, expire_duration } = EXAMPLE;

const headers = z.object({
  "Idempotency-Key": text.optional().openapi({
    description: "api.idempotency-key",
    example: "8e03978e-40d5-43dd-bc93-6894a57f9324",
  }),
});
const json = <T extends z.ZodType>(schema: T, example: object) => ({
  required: true,
  content: { "application/json": { schema, example } },
});
/** What all of them have in common. */
const problems = {
  400: refused("api.body.refused"),
  413: failed("api.body.too-large"),
  415: failed("api.body.type"),
  422: failed("idempotency.reused"),
  ...unavailable,
};
const made = <T extends z.ZodType>(schema: T) => ({
  201: {
    ...answer("api.made", schema),
    headers: z.object({
      Location: text.openapi({ format: "uri", description: "api.location" }),
      Link: text.openapi({ description: "api.edit-link" }),
      ...rateLimit,
    }),
  },
  409: failed("api.taken"),
  ...problems,
});
const many = <T extends z.ZodType>(schema: T) => ({
  200: { ...answer("api.many.answer", schema), headers: z.object(rateLimit) },
  ...problems,
  413: failed("api.many.too-large"),
});

export const makeOperations = {
  shorten: createRoute({
    ...tagged("Links"),
    method: "post",
    path: PATHS.shorten,
    operationId: "createLink",
    summary: "api.shorten",
    description: "api.shorten.description",
    // Without a code: it would be in use as soon as one reader has sent the example.
    request: { headers, body: json(shortenRequest, { original_url, expire_duration }) },
    responses: made(shortenResponse),
  }),
  makeLink: createRoute({
    ...tagged("Links"),
    method: "post",
    path: PATHS.links,
    operationId: "makeLink",
    summary: "api.links",
    description: "api.links.description",
    request: { headers, body: json(linkRequest, LINK_EXAMPLE) },
    responses: made(madeResponse),
  }),
  shortenBatch: createRoute({
    ...tagged("Links"),
    method: "post",
    path: PATHS.shortenBatch,
    operationId: "createLinks",
    summary: "api.many.shorten",
    description: "api.many.description",
    request: { headers, body: json(shortenRequests, SHORTEN_EXAMPLES) },
    responses: many(shortenResults),
  }),
  linksBatch: createRoute({
    ...tagged("Links"),
    method: "post",
    path: PATHS.linksBatch,
    operationId: "makeLinks",
    summary: "api.many.links",
    description: "api.many.description",
    request: { headers, body: json(linkRequests, LINK_EXAMPLES) },
    responses: many(linkResults),
  }),
};

/** The security scheme of services that make links only for those who have their token. */
export const TOKEN_SCHEME = { name: SCHEMES.token, scheme: { type: "http", scheme: "bearer" } } as const;

/** The same at such a service. */
export const withToken = {
  shorten: createRoute({ ...makeOperations.shorten, ...tokenNeeded(makeOperations.shorten.responses) }),
  makeLink: createRoute({ ...makeOperations.makeLink, ...tokenNeeded(makeOperations.makeLink.responses) }),
  shortenBatch: createRoute({
    ...makeOperations.shortenBatch,
    ...tokenNeeded(makeOperations.shortenBatch.responses),
  }),
  linksBatch: createRoute({
    ...makeOperations.linksBatch,
    ...tokenNeeded(makeOperations.linksBatch.responses),
  }),
};

function tokenNeeded<T extends object>(responses: T) {
  return {
    security: [{ [TOKEN_SCHEME.name]: [] }],
    responses: {
      ...responses,
      401: failed("api.token", { "WWW-Authenticate": text.openapi({ description: "api.token.scheme" }) }),
    },
  };
}
