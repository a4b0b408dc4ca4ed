import { OpenAPIHono } from "@hono/zod-openapi";

import type { Expiry } from "../../links/time.ts";
import { languageNames, type MessageKey, message } from "../../locales/messages.ts";
import { type ApiDescription, dereference } from "../../pages/reference/openapi.ts";
import { REQUEST_ID } from "../../server/request-id.ts";
import type { Domain } from "../domain.ts";
import { TOKEN_SCHEME, withToken } from "./make-operations.ts";
import { KEY_SCHEME, TAGS } from "./operation.ts";
import { operations } from "./operations.ts";
import { type Information, LIMITS } from "./schemas.ts";

export interface DescribeOptions {
  readonly version: string;
  /** Whether links are only made for those who know the token. */
  readonly needsToken: boolean;
}

/** The OpenAPI 3.1 document in a language, generated from the schemas that validate. */
export function describeApi(
  { baseUrl, origin }: Domain,
  language: string,
  { version, needsToken }: DescribeOptions,
): ApiDescription {
  const described = new OpenAPIHono();
  const registry = described.openAPIRegistry;
  registry.registerComponent("securitySchemes", KEY_SCHEME.name, KEY_SCHEME.scheme);
  if (needsToken) registry.registerComponent("securitySchemes", TOKEN_SCHEME.name, TOKEN_SCHEME.scheme);
  const offered = { ...operations, ...(needsToken && withToken) };
  for (const operation of Object.values(offered)) registry.registerPath(operation);
  const document = described.getOpenAPI31Document({
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
  for (const [path, item] of Object.entries(document.paths ?? {}))
    if (path.startsWith("/api/")) addRequestId(item);
  const values = { ...LIMITS, languages: languageNames(language) };
  const say = (key: string) => message(language, key as MessageKey, values);
  return JSON.parse(JSON.stringify(document), (name, value: unknown) => {
    if (typeof value !== "string") return value;
    if (name === "description" || name === "summary") return say(value);
    if (name !== "example") return value;
    return value.replaceAll(/\{(\w+)\}/g, (_, key: string) => (key === "base" ? baseUrl : say(key)));
  }) as ApiDescription;
}

/** Every answer of the API has it. */
function addRequestId(operationsOfPath: object): void {
  const described = Object.values(
    operationsOfPath as Record<string, { responses: Record<string, Described> }>,
  );
  for (const { responses } of described)
    for (const response of Object.values(responses))
      response.headers = {
        ...response.headers,
        [REQUEST_ID]: { description: "api.request-id", required: true, schema: { type: "string" } },
      };
}

interface Described {
  headers?: object;
}

type Parameter = Information["parameters"][number];

/** The parameters of POST /api/v1/shorten, read from the document. */
export function describeParameters(api: ApiDescription, defaultExpiry: Expiry): Parameter[] {
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
