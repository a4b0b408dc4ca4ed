import { OpenAPIHono } from "@hono/zod-openapi";

import { languageNames, type MessageKey, message } from "../../language/messages.ts";
import type { Expiry } from "../../links/expiry.ts";
import type { ApiDescription } from "../../pages/openapi.ts";
import type { Domain } from "../domain.ts";
import { operations } from "./operations.ts";
import { type Information, LIMITS } from "./schemas.ts";

/** The OpenAPI 3.1 document in a language, generated from the schemas that validate. */
export function describeApi({ baseUrl, origin }: Domain, version: string, language: string): ApiDescription {
  const described = new OpenAPIHono();
  for (const operation of Object.values(operations)) described.openAPIRegistry.registerPath(operation);
  const document = described.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Curt",
      version,
      description: "api.description",
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
    },
    servers: [{ url: origin }],
  });
  const values = { ...LIMITS, languages: languageNames(language) };
  const say = (key: string) => message(language, key as MessageKey, values);
  return JSON.parse(JSON.stringify(document), (name, value: unknown) => {
    if (typeof value !== "string") return value;
    if (name === "description" || name === "summary") return say(value);
    if (name !== "example") return value;
    return value.replaceAll(/\{(\w+)\}/g, (_, key: string) => (key === "base" ? baseUrl : say(key)));
  }) as ApiDescription;
}

type Parameter = Information["parameters"][number];

/** The parameters of POST /api/v1/shorten, read from the document. */
export function describeParameters({ components }: ApiDescription, defaultExpiry: Expiry): Parameter[] {
  const { properties = {}, required = [] } = components.schemas["ShortenRequest"] ?? {};
  return Object.entries(properties).map(
    ([name, { type = "object", description = "", enum: values, maxLength }]) => {
      return {
        name,
        type: [type]
          .flat()
          .filter((one) => one !== "null")
          .join(),
        required: required.includes(name),
        description,
        ...(values && {
          allowed_values: values.filter((value) => value !== null).map(String),
          default: defaultExpiry,
        }),
        ...(maxLength !== undefined && { max_length: maxLength }),
      };
    },
  );
}
