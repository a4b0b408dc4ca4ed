// The contract's endpoint: POST creates a link, GET describes the endpoint.

import type { DetachedCall } from "../http/call.ts";
import type { Domain } from "../http/domain.ts";
import { endpoint, addressPath, viewEndpoint } from "../http/endpoint.ts";
import { malformed } from "../http/problems.ts";
import { BODIES, header } from "../lib/bounds.ts";
import type { Link } from "../links/link.ts";
import { isProblem } from "../links/problem.ts";
import { TERM_NAMES } from "../links/terms/terms.ts";
import { DURATIONS, instantOf, type Expiry, isoInstant } from "../links/time.ts";
import { message, negotiateLanguage } from "../locales/messages.ts";
import type { ApiParts, ApiViewParts } from "./api-parts.ts";
import { code, createLink, target } from "./create-link.ts";
import { createBody, type CreateFormat, createCreateHandlers, createResponses } from "./creation.ts";
import { envelope, success } from "./envelope.ts";
import { readFields } from "./json-body.ts";
import {
  type Entry,
  EXAMPLE,
  instant,
  plainFailures,
  reference,
  returns,
  shortUrl,
  string,
} from "./openapi/components.ts";
import { type ApiDescription, dereference } from "./openapi/description.ts";
import { getDocument } from "./openapi/document.ts";
import { z } from "./openapi/schema.ts";

const AT = "POST /api/v1/shorten";
const BODY = BODIES[AT];
const { original_url, custom_code, expire_duration } = EXAMPLE;

const shortenRequest = z
  .object({
    original_url: target,
    custom_code: code.nullish(),
    expire_duration: reference(z.enum(DURATIONS).openapi("ExpireDuration"))
      .nullish()
      .openapi({ description: "info.expire_duration", example: expire_duration }),
  })
  .openapi("ShortenRequest");

const shortLink = z
  .strictObject({
    short_url: shortUrl,
    original_url: string.openapi({ description: "api.short.original_url", example: original_url }),
    code: string.openapi({ description: "api.short.code", example: custom_code }),
    expiration_date: instant("api.short.expiration_date", "2026-01-08T00:00:00.000Z"),
  })
  .openapi("ShortLink");
const shortenResponse = envelope("shortened", shortLink).strict().openapi("ShortenResponse");

export const shorten = endpoint({
  at: AT,
  cost: "create",
  entry: {
    tags: ["Links"],
    operationId: "shorten",
    summary: "api.shorten",
    description: "api.shorten.description",
    // Without a code: it would be in use as soon as one reader has sent the example.
    request: createBody(shortenRequest, { original_url, expire_duration }),
    responses: createResponses(shortenResponse),
  } satisfies Entry,
  serve: (parts: ApiParts) => createCreateHandlers(parts).one(SHORTEN_FORMAT, addressPath(AT)),
});

/** These are refused; other unknown fields are ignored. Without its password, for example, a link would be unprotected. */
const SHORTEN_FORMAT: CreateFormat = {
  example: { original_url },
  message: "shortened",
  bounds: BODY,
  read(fields) {
    const terms = TERM_NAMES.filter((name) => fields[name] !== undefined && fields[name] !== null);
    if (terms.length > 0)
      return malformed(
        ...terms.map((field) => ({ rule: "field.unknown" as const, field, elsewhere: createLink.at })),
      );
    const body = readFields(fields, BODY, shortenRequest);
    if (isProblem(body)) return body;
    const { original_url: originalUrl, expire_duration: expiry } = body;
    const customCode = body.custom_code || undefined;
    return {
      request: { originalUrl, customCode, terms: expiry ? { expires_at: expiry } : undefined },
      describe: (link, domain) => shortLinkJson(link, customCode ?? link.code, domain),
    };
  },
};

/** `written` is the code as its maker spelled it. */
function shortLinkJson(
  link: Pick<Link, "originalUrl" | "endsMs">,
  written: string,
  domain: Domain,
): z.infer<typeof shortLink> {
  return {
    short_url: domain.shortUrl(written),
    original_url: link.originalUrl,
    code: written,
    expiration_date: isoInstant(link.endsMs),
  };
}

const parameter = z
  .object({
    name: string,
    type: string,
    required: z.boolean(),
    description: string,
    allowed_values: z.array(string).optional(),
    default: string.optional(),
    max_length: z.int().optional(),
  })
  .openapi("ParameterInformation");

const information = z
  .object({
    name: string,
    version: string,
    description: string,
    endpoint: string.openapi({ format: "uri" }),
    method: string,
    content_type: string,
    max_body_bytes: z.int(),
    parameters: z.array(parameter),
    example: z.object({ request: shortenRequest, response: shortenResponse }).openapi("ShortenExample"),
    openapi: string.openapi({ format: "uri" }),
  })
  .openapi("Information");

export const getInformation = viewEndpoint({
  at: "GET /api/v1/shorten",
  cost: "work",
  entry: {
    tags: ["Reference"],
    operationId: "getApiInformation",
    summary: "api.information",
    description: "api.information.description",
    responses: {
      200: returns("api.information.answer", envelope("info", information).openapi("InformationResponse")),
      ...plainFailures,
    },
  } satisfies Entry,
  view: { render: showInformation },
});

function showInformation({ version, needsToken, defaultExpiry, describe }: ApiViewParts) {
  return (call: DetachedCall): Response => {
    const { domain } = call;
    const language = negotiateLanguage(header(call.headers, "accept-language"));
    const createdMs = Date.UTC(2026, 0, 1);
    const link = { originalUrl: original_url, endsMs: instantOf(createdMs, expire_duration) };
    const data: z.infer<typeof information> = {
      name: "Curt",
      version,
      description: message(language, needsToken ? "info.description.token" : "info.description"),
      endpoint: `${domain.baseUrl}${addressPath(AT)}`,
      method: "POST",
      content_type: "application/json",
      max_body_bytes: BODY.maxBytes,
      parameters: describeParameters(describe(domain, language), defaultExpiry),
      example: {
        request: EXAMPLE,
        response: {
          status: "success",
          message: message(language, "shortened"),
          data: shortLinkJson(link, custom_code, domain),
        },
      },
      openapi: `${domain.baseUrl}${addressPath(getDocument.at)}`,
    };
    return success(call, 200, "info", data);
  };
}

/** The parameters of the request, read from the OpenAPI document. */
function describeParameters(api: ApiDescription, defaultExpiry: Expiry): z.infer<typeof parameter>[] {
  const body = api.components.schemas["ShortenRequest"] ?? {};
  return Object.entries(body.properties ?? {}).map(([name, property]) => {
    const {
      type = "object",
      description = "",
      enum: values,
      "x-max-length": maxLength,
    } = dereference(api, property);
    return {
      name,
      type: [type]
        .flat()
        .filter((one) => one !== "null")
        .join(),
      required: body.required?.includes(name) ?? false,
      description,
      ...(values && { allowed_values: values.map(String), default: defaultExpiry }),
      ...(maxLength !== undefined && { max_length: maxLength }),
    };
  });
}
