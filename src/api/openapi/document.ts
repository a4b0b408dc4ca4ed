import type { DetachedCall } from "../../http/call.ts";
import { viewEndpoint } from "../../http/endpoint.ts";
import { json } from "../../http/responses.ts";
import { header } from "../../lib/bounds.ts";
import { negotiateLanguage } from "../../locales/messages.ts";
import type { ApiViewParts } from "../api-parts.ts";
import { type Entry, jsonContent, plainFailures, rateLimit, string } from "./components.ts";
import { z } from "./schema.ts";

/** Clients may keep the document, but must revalidate it before each use. */
const REVALIDATE = { "Cache-Control": "no-cache" };

/** The OpenAPI document, which `openapi.ts` writes. */
export const getDocument = viewEndpoint({
  at: "GET /api/v1/openapi.json",
  cost: "work",
  entry: {
    tags: ["Reference"],
    operationId: "getOpenApiDocument",
    summary: "api.document",
    description: "api.document.description",
    responses: {
      200: {
        description: "api.document.answer",
        headers: z.object(rateLimit),
        content: jsonContent(z.looseObject({ openapi: string }).openapi("OpenApiDocument")),
      },
      ...plainFailures,
    },
  } satisfies Entry,
  view: {
    render:
      ({ describe }: ApiViewParts) =>
      (call: DetachedCall) => {
        const language = negotiateLanguage(header(call.headers, "accept-language"));
        return json(call, 200, describe(call.domain, language), language, REVALIDATE);
      },
  },
});
