import { createRoute, z } from "@hono/zod-openapi";

import { LINK_FIELDS } from "../http/field-names.ts";
import { MAX_CODE_POINTS } from "../links/code.ts";
import { type Invalid, isProblem, type Refusal } from "../links/problem.ts";
import { MAX_TARGET_LENGTH } from "../links/target.ts";
import { MAX_VISITS, PASSWORD_LENGTH } from "../links/terms.ts";
import { type Expiry, parseWhen } from "../links/time.ts";
import { EXAMPLE, string } from "./components.ts";
import { createBody, type CreateFormat, createResponses } from "./creation.ts";
import { envelope } from "./envelope.ts";
import { readFields } from "./json-body.ts";
import { managedLinkJson, managedLinkSchema } from "./link-json.ts";

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
  .object({
    target,
    code: code.nullish(),
    expires: string.nullish().openapi({ description: "api.links.expires", example: EXAMPLE.expire_duration }),
    starts: string
      .nullish()
      .openapi({ description: "api.links.starts", example: "2026-01-01T09:00:00+09:00" }),
    max_visits: maxVisits.openapi({ description: "api.links.max_visits" }),
    password: password.openapi({ description: "api.links.password" }),
  })
  .openapi("LinkRequest");

/** The names of these fields at `POST /api/v1/shorten`. */
export const SHORTEN_NAMES = {
  original_url: "target",
  custom_code: "code",
  expire_duration: "expires",
} as const;

/** POST /api/v1/links. Without a code in the example: it would be in use as soon as one reader has sent it. */
export const createLinkRoute = createRoute({
  tags: ["Links"],
  method: "post",
  path: "/api/v1/links",
  operationId: "makeLink",
  summary: "api.links",
  description: "api.links.description",
  request: createBody(linkRequest, { target: EXAMPLE.original_url, expires: EXAMPLE.expire_duration }),
  responses: createResponses(envelope("link.made", managedLinkSchema).openapi("MadeResponse")),
});

export const LINK_FORMAT: CreateFormat = {
  example: { target: EXAMPLE.original_url },
  fields: LINK_FIELDS,
  message: "link.made",
  read(fields) {
    const body = readFields(fields, linkRequest, SHORTEN_NAMES);
    if (isProblem(body)) return body;
    const dates = readDates(body);
    if (isProblem(dates)) return dates;
    return {
      request: {
        ...dates,
        starts: dates.starts ?? undefined,
        originalUrl: body.target,
        customCode: body.code || undefined,
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
  expires,
  starts,
}: Pick<z.infer<typeof linkRequest>, "expires" | "starts">):
  | { readonly expiry: Expiry | number | undefined; readonly starts: ReturnType<typeof parseWhen> | null }
  | Invalid {
  const refusals: Refusal[] = [];
  const read = (written: string | undefined, rule: "expires.format" | "starts.format") => {
    const when = written === undefined ? undefined : parseWhen(written);
    if (written !== undefined && when === undefined) refusals.push({ rule });
    return when;
  };
  const dates = {
    expiry: expires === null ? ("never" as const) : read(expires, "expires.format"),
    starts: starts === null ? null : read(starts, "starts.format"),
  };
  return refusals.length > 0 ? { kind: "invalid", refusals } : dates;
}
