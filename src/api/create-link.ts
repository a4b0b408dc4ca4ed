import { createRoute, z } from "@hono/zod-openapi";

import { BODIES } from "../lib/bounds.ts";
import { MAX_CODE_POINTS } from "../links/code.ts";
import { PASSWORD_LENGTH } from "../links/password.ts";
import { type Invalid, isProblem, type Refusal } from "../links/problem.ts";
import { MAX_TARGET_LENGTH } from "../links/target.ts";
import { MAX_VISITS } from "../links/terms.ts";
import { type Expiry, parseWhen } from "../links/time.ts";
import { EXAMPLE, string } from "./components.ts";
import { createBody, type CreateFormat, createResponses } from "./creation.ts";
import { envelope } from "./envelope.ts";
import { readFields } from "./json-body.ts";
import { managedLinkJson, managedLinkSchema } from "./link-json.ts";

const BODY = BODIES["POST /api/v1/links"];

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
export const maxVisits = z
  .number()
  .nullish()
  .openapi({ type: ["integer", "null"], minimum: MAX_VISITS.min, maximum: MAX_VISITS.max, example: 100 });
export const password = string
  .openapi({ format: "password", "x-max-length": PASSWORD_LENGTH.max, example: "correct horse" })
  .nullish();

export const linkRequest = z
  .strictObject({
    target,
    code: code.nullish(),
    domain: string.nullish().openapi({ description: "api.links.domain", example: "go.example.com" }),
    expires_at: string
      .nullish()
      .openapi({ description: "api.links.expires_at", example: EXAMPLE.expire_duration }),
    starts_at: string
      .nullish()
      .openapi({ description: "api.links.starts_at", example: "2026-01-01T09:00:00+09:00" }),
    max_visits: maxVisits.openapi({ description: "api.links.max_visits" }),
    password: password.openapi({ description: "api.links.password" }),
  })
  .openapi("LinkRequest");

/** POST /api/v1/links. Without a code in the example: it would be in use as soon as one reader has sent it. */
export const createLinkRoute = createRoute({
  tags: ["Links"],
  method: "post",
  path: "/api/v1/links",
  operationId: "createLink",
  summary: "api.links",
  description: "api.links.description",
  request: createBody(linkRequest, { target: EXAMPLE.original_url, expires_at: EXAMPLE.expire_duration }),
  responses: createResponses(envelope("link.made", managedLinkSchema).openapi("CreatedLinkResponse")),
});

export const LINK_FORMAT: CreateFormat = {
  example: { target: EXAMPLE.original_url },
  message: "link.made",
  bounds: BODY,
  read(fields) {
    const body = readFields(fields, BODY, linkRequest);
    if (isProblem(body)) return body;
    const dates = readDates(body);
    if (isProblem(dates)) return dates;
    return {
      request: {
        ...dates,
        starts: dates.starts ?? undefined,
        originalUrl: body.target,
        customCode: body.code || undefined,
        domain: body.domain || undefined,
        maxVisits: body.max_visits ?? undefined,
        password: body.password ?? undefined,
      },
      describe: (link, domain, secret) =>
        managedLinkJson(link, domain, secret, { nowMs: link.createdMs, visits: 0 }),
    };
  },
};

/** Undefined stays undefined. Null means no end, or a start right away. */
export function readDates({
  expires_at,
  starts_at,
}: Pick<z.infer<typeof linkRequest>, "expires_at" | "starts_at">):
  | { readonly expiry: Expiry | number | undefined; readonly starts: ReturnType<typeof parseWhen> | null }
  | Invalid {
  const refusals: Refusal[] = [];
  const read = (written: string | undefined, rule: "expires_at.format" | "starts_at.format") => {
    const when = written === undefined ? undefined : parseWhen(written);
    if (written !== undefined && when === undefined) refusals.push({ rule });
    return when;
  };
  const dates = {
    expiry: expires_at === null ? ("never" as const) : read(expires_at, "expires_at.format"),
    starts: starts_at === null ? null : read(starts_at, "starts_at.format"),
  };
  return refusals.length > 0 ? { kind: "invalid", refusals } : dates;
}
