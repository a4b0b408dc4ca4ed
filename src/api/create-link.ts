import { endpoint, addressPath } from "../http/endpoint.ts";
import { BODIES } from "../lib/bounds.ts";
import { MAX_CODE_POINTS } from "../links/code.ts";
import { isProblem } from "../links/problem.ts";
import { MAX_TARGET_LENGTH } from "../links/target.ts";
import { readTerms } from "../links/terms/term-values.ts";
import { type KindOf, type NameOf, TERM_NAMES, type TermName, TERMS } from "../links/terms/terms.ts";
import type { MessageKey } from "../locales/messages.ts";
import type { ApiParts } from "./api-parts.ts";
import { createBody, type CreateFormat, createCreateHandlers, createResponses } from "./creation.ts";
import { envelope } from "./envelope.ts";
import { readFields } from "./json-body.ts";
import { managedLinkJson, managedLinkSchema } from "./link-json.ts";
import { type Entry, EXAMPLE, string } from "./openapi/components.ts";
import { z } from "./openapi/schema.ts";

const AT = "POST /api/v1/links";
const BODY = BODIES[AT];

// Schemas of bodies only check types. The domain refuses wrong values with a better message. It counts lengths after
// normalisation, so a client that checked a maxLength would refuse what the service takes.

export const code = string.openapi({
  description: "info.custom_code",
  "x-max-length": MAX_CODE_POINTS,
  example: EXAMPLE.custom_code,
});
export const target = string.openapi({
  description: "info.original_url",
  "x-max-length": MAX_TARGET_LENGTH,
  example: EXAMPLE.original_url,
});

/** The schema of each kind of term in a request. */
const TERM_SCHEMAS = {
  when: () => string.nullish().openapi({ example: EXAMPLE.expire_duration }),
  count: (name: NameOf<"count">) =>
    z
      .number()
      .nullish()
      .openapi({
        type: ["integer", "null"],
        minimum: TERMS[name].bounds.min,
        maximum: TERMS[name].bounds.max,
        example: 100,
      }),
  secret: (name: NameOf<"secret">) =>
    string
      .openapi({ format: "password", "x-max-length": TERMS[name].bounds.max, example: "correct horse" })
      .nullish(),
  flag: () => z.boolean().nullish().openapi({ example: true }),
  text: (name: NameOf<"text">) =>
    string.openapi({ "x-max-length": TERMS[name].bounds.max, example: "Spring sale" }).nullish(),
};
type TermShape = { [N in TermName]: ReturnType<(typeof TERM_SCHEMAS)[KindOf<N>]> };

/** The terms in the schema of a request. */
export function termShape(descriptionOf: (name: TermName) => MessageKey): TermShape {
  const shape = TERM_NAMES.map((name) => {
    const schema: z.ZodType = TERM_SCHEMAS[TERMS[name].kind](name as never);
    return [name, schema.openapi({ description: descriptionOf(name) })] as const;
  });
  return Object.fromEntries(shape) as unknown as TermShape;
}

export const linkRequest = z
  .strictObject({
    target,
    code: code.nullish(),
    domain: string.nullish().openapi({ description: "api.links.domain", example: "go.example.com" }),
    ...termShape((name) => `api.links.${name}`),
  })
  .openapi("LinkRequest");

export const createLink = endpoint({
  at: AT,
  cost: "create",
  entry: {
    tags: ["Links"],
    operationId: "createLink",
    summary: "api.links",
    description: "api.links.description",
    // Without a code: it would be in use as soon as one reader has sent the example.
    request: createBody(linkRequest, { target: EXAMPLE.original_url, expires_at: EXAMPLE.expire_duration }),
    responses: createResponses(envelope("link.made", managedLinkSchema).openapi("CreatedLinkResponse")),
  } satisfies Entry,
  serve: (parts: ApiParts) => createCreateHandlers(parts).one(LINK_FORMAT, addressPath(AT)),
});

export const LINK_FORMAT: CreateFormat = {
  example: { target: EXAMPLE.original_url },
  message: "link.made",
  bounds: BODY,
  read(fields) {
    const body = readFields(fields, BODY, linkRequest);
    if (isProblem(body)) return body;
    const read = readTerms(body);
    if (isProblem(read)) return read;
    return {
      request: {
        ...read,
        originalUrl: body.target,
        customCode: body.code || undefined,
        domain: body.domain || undefined,
      },
      describe: (link, domain, manageKey) =>
        managedLinkJson(link, domain, manageKey, { nowMs: link.createdMs, visits: 0 }),
    };
  },
};
