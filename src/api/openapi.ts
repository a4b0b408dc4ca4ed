import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";

import { REQUEST_ID } from "../http/api-headers.ts";
import type { DetachedCall } from "../http/call.ts";
import type { Domain } from "../http/domain.ts";
import { listsErrors } from "../http/problems.ts";
import { json } from "../http/responses.ts";
import { BODIES, header } from "../lib/bounds.ts";
import { languageNames, type MessageKey, message, negotiateLanguage } from "../locales/messages.ts";
import { MIN_SHOWN_VISITS } from "../visits/statistics/noise.ts";
import { MAX_DAYS } from "../visits/statistics/statistics.ts";
import { indexRoute } from "./api-index.ts";
import { checkCodeRoute } from "./check-code.ts";
import {
  authenticate,
  codeParameter,
  failure,
  jsonContent,
  KEY_SCHEME,
  plainFailures,
  rateLimit,
  shortenProblem,
  storeFailures,
  string,
} from "./components.ts";
import { createLinksRoute, MAX_BATCH } from "./create-batch.ts";
import { createLinkRoute } from "./create-link.ts";
import { TOKEN_SCHEME, withToken } from "./creation.ts";
import type { ApiDescription } from "./description.ts";
import { getLinkRoute } from "./get-link.ts";
import type { DescribeOptions } from "./parts.ts";
import { qrPngRoute, qrSvgRoute } from "./qr-code.ts";
import { reportLinkRoute } from "./report-link.ts";
import { informationRoute, shortenRoute } from "./shorten.ts";
import { statisticsRoute } from "./statistics.ts";
import { updateLinkRoute } from "./update-link.ts";
import { withdrawLinkRoute } from "./withdraw-link.ts";

export const documentRoute = createRoute({
  tags: ["Reference"],
  method: "get",
  path: "/api/v1/openapi.json",
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
});

/** Handled by redirect, which does without schemas. */
const followLinkRoute = createRoute({
  tags: ["Links"],
  method: "get",
  path: "/{code}",
  operationId: "followLink",
  summary: "api.follow",
  description: "api.follow.description",
  request: { params: codeParameter },
  responses: {
    302: {
      description: "api.follow.answer",
      headers: z.object({ Location: string.openapi({ format: "uri", description: "api.follow.location" }) }),
    },
    401: failure("api.password", authenticate("api.password.scheme")),
    404: failure("unknown"),
    410: failure("api.ended"),
    ...storeFailures,
  },
});

const CREATE_ROUTES = [shortenRoute, createLinkRoute, createLinksRoute];
const OTHER_ROUTES = [
  indexRoute,
  informationRoute,
  getLinkRoute,
  updateLinkRoute,
  withdrawLinkRoute,
  checkCodeRoute,
  statisticsRoute,
  reportLinkRoute,
  followLinkRoute,
  qrSvgRoute,
  qrPngRoute,
  documentRoute,
];

/** Descriptions of the tags. Generators turn the names into names of modules and classes. */
const TAGS = {
  Links: "api.tag.links",
  Statistics: "api.tag.statistics",
  Reports: "api.tag.reports",
  "QR codes": "api.tag.qr",
  Reference: "api.tag.reference",
} as const satisfies Record<string, MessageKey>;

/** Values of the placeholders in the messages that describe the API. */
const LIMITS = {
  batch: MAX_BATCH,
  batch_bytes: BODIES["POST /api/v1/links/batch"].maxBytes,
  days: MAX_DAYS.day,
  hours_days: MAX_DAYS.hour,
  fewest: MIN_SHOWN_VISITS,
};

/** The OpenAPI 3.1 document in a language, generated from the schemas that validate. */
export function describeApi(
  { baseUrl, origin }: Domain,
  language: string,
  { version, needsToken }: DescribeOptions,
): ApiDescription {
  const app = new OpenAPIHono();
  const registry = app.openAPIRegistry;
  registry.register("ShortenProblem", shortenProblem);
  registry.registerComponent("securitySchemes", KEY_SCHEME.name, KEY_SCHEME.scheme);
  if (needsToken) registry.registerComponent("securitySchemes", TOKEN_SCHEME.name, TOKEN_SCHEME.scheme);
  for (const route of CREATE_ROUTES) registry.registerPath(needsToken ? withToken(route) : route);
  for (const route of OTHER_ROUTES) registry.registerPath(route);
  const document = app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Curt",
      version,
      description: "api.description",
      contact: { name: "Curt", url: origin },
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
    },
    servers: [{ url: origin }],
    security: [],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
  });
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    if (path.startsWith("/api/")) addRequestId(item as Operations);
    if (!listsErrors(path)) nameOtherProblem(item as Operations);
  }
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {}))
    nameValues(name, schema as EnumSchema);
  const values = { ...LIMITS, languages: languageNames(language) };
  const say = (key: string) => message(language, key as MessageKey, values);
  return JSON.parse(JSON.stringify(document), (name, value: unknown) => {
    if (typeof value !== "string") return value;
    if (name === "description" || name === "summary") return say(value);
    if (name !== "example") return value;
    return value.replaceAll(/\{([\w.-]+)\}/g, (_, key: string) => (key === "base" ? baseUrl : say(key)));
  }) as ApiDescription;
}

type Operations = Record<string, { responses: Record<string, OperationResponse> }>;
interface OperationResponse {
  headers?: object;
  readonly content?: Readonly<Record<string, { readonly schema: { $ref?: string } }>>;
}

/** Every response of the API has it. */
function addRequestId(operations: Operations): void {
  for (const { responses } of Object.values(operations))
    for (const response of Object.values(responses))
      response.headers = {
        ...response.headers,
        [REQUEST_ID]: { description: "api.request-id", required: true, schema: { type: "string" } },
      };
}

/** Problems of the contract's endpoints have no `errors`. */
function nameOtherProblem(operations: Operations): void {
  for (const { responses } of Object.values(operations))
    for (const { content } of Object.values(responses)) {
      const schema = content?.["application/json"]?.schema;
      if (schema?.$ref === "#/components/schemas/Problem")
        schema.$ref = "#/components/schemas/ShortenProblem";
    }
}

interface EnumSchema {
  readonly enum?: readonly string[];
  "x-enum-varnames"?: readonly string[];
}

/** Generators for Go put the values of all enums into one scope, where `other` of two enums would be one name. */
function nameValues(schemaName: string, schema: EnumSchema): void {
  const upper = (name: string) => name.replaceAll(/[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
  if (schema.enum !== undefined)
    schema["x-enum-varnames"] = schema.enum.map((value) => `${upper(schemaName)}_${upper(value)}`);
}

/** Clients may keep the document, but ask each time whether it changed. */
const REVALIDATE = { "Cache-Control": "no-cache" };

/** Runs on the views thread. */
export function documentView(describe: (domain: Domain, language: string) => ApiDescription) {
  return (call: DetachedCall): Response => {
    const language = negotiateLanguage(header(call.headers, "accept-language"));
    return json(call, 200, describe(call.domain, language), language, REVALIDATE);
  };
}
