import { OpenAPIHono } from "@hono/zod-openapi";

import { type MessageKey, message } from "../language/language.ts";
import type { Expiry } from "../links/expiry.ts";
import { type Information, operations } from "./schemas.ts";

export type ApiDocument = ReturnType<OpenAPIHono["getOpenAPI31Document"]>;

/** The OpenAPI 3.1 document, generated from the schemas that validate. */
export function describeApi(baseUrl: string, version: string): ApiDocument {
  const described = new OpenAPIHono();
  for (const operation of Object.values(operations)) described.openAPIRegistry.registerPath(operation);
  return described.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Curt",
      version,
      description: "Short links that keep their word. Messages are in English or Korean, by Accept-Language.",
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
    },
    servers: [{ url: new URL(baseUrl).origin }],
  });
}

interface DescribedObject {
  readonly properties: Readonly<Record<string, DescribedProperty>>;
  readonly required: readonly string[];
}

interface DescribedProperty {
  readonly type: string | readonly string[];
  readonly enum?: readonly (string | null)[];
  readonly maxLength?: number;
}

type Parameter = Information["parameters"][number];

/** The parameters of POST /api/v1/shorten, read from the document. */
export function describeParameters(
  document: ApiDocument,
  language: string,
  defaultExpiry: Expiry,
): Parameter[] {
  const schema = document.components?.schemas?.["ShortenRequest"];
  const { properties, required } = schema as unknown as DescribedObject;
  return Object.entries(properties).map(([name, { type, enum: values, maxLength }]) => {
    return {
      name,
      type: [type]
        .flat()
        .filter((one) => one !== "null")
        .join(),
      required: required.includes(name),
      description: message(language, `info.${name}` as MessageKey),
      ...(values && {
        allowed_values: values.filter((value) => value !== null).map(String),
        default: defaultExpiry,
      }),
      ...(maxLength !== undefined && { max_length: maxLength }),
    };
  });
}
