import { OpenApiGeneratorV31, OpenAPIRegistry } from "@asteasolutions/zod-to-openapi";

import { REQUEST_ID } from "../../http/api-headers.ts";
import type { Domain } from "../../http/domain.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { listsErrors } from "../../http/problems.ts";
import { BODIES } from "../../lib/bounds.ts";
import { languageNames, type MessageKey, message } from "../../locales/messages.ts";
import { MIN_SHOWN_VISITS } from "../../visits/statistics/noise.ts";
import { MAX_DAYS } from "../../visits/statistics/statistics.ts";
import { MAX_BATCH } from "../create-batch.ts";
import { MIN_KEY_LENGTH, TOKEN_SCHEME, withToken } from "../creation.ts";
import { type Entry, KEY_SCHEME, shortenProblem } from "./components.ts";
import type { ApiDescription } from "./description.ts";

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
  key_length: MIN_KEY_LENGTH,
  days: MAX_DAYS.day,
  hours_days: MAX_DAYS.hour,
  fewest: MIN_SHOWN_VISITS,
};

export interface DescribeOptions {
  /** In the order of the document. Those without an entry aren't in it. */
  readonly endpoints: readonly Pick<Endpoint, "at" | "cost" | "entry">[];
  readonly version: string;
  /** Whether links are only created for those who know the token. */
  readonly needsToken: boolean;
}

/** The OpenAPI 3.1 document in a language, generated from the schemas that validate. */
export function describeApi(
  { baseUrl, origin }: Domain,
  language: string,
  { endpoints, version, needsToken }: DescribeOptions,
): ApiDescription {
  const registry = new OpenAPIRegistry();
  registry.register("ShortenProblem", shortenProblem);
  registry.registerComponent("securitySchemes", KEY_SCHEME.name, KEY_SCHEME.scheme);
  if (needsToken) registry.registerComponent("securitySchemes", TOKEN_SCHEME.name, TOKEN_SCHEME.scheme);
  for (const { at, cost, entry } of endpoints) {
    if (entry === undefined) continue;
    const [method = "", path = ""] = at.split(" ");
    const described = needsToken && cost === "create" ? withToken(entry as Entry) : (entry as Entry);
    registry.registerPath({ ...described, method: method.toLowerCase() as "get", path });
  }
  const document = new OpenApiGeneratorV31(registry.definitions).generateDocument({
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

/** Generators for Go put the values of all enums into one scope. There, `other` of two enums would be one name. */
function nameValues(schemaName: string, schema: EnumSchema): void {
  const upper = (name: string) => name.replaceAll(/[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
  if (schema.enum !== undefined)
    schema["x-enum-varnames"] = schema.enum.map((value) => `${upper(schemaName)}_${upper(value)}`);
}
