import { z } from "@hono/zod-openapi";

import { MAX_CODE_POINTS } from "../../links/code.ts";
import { STATES } from "../../links/link.ts";
import { MAX_TARGET_LENGTH } from "../../links/target.ts";
import { MAX_VISITS, PASSWORD_LENGTH } from "../../links/terms.ts";
import { count, disabledReason, envelope, EXAMPLE, instant, referred, shortUrl, text } from "./schemas.ts";

// As in schemas.ts, every description is the key of a message, and only types are checked here.

const TARGET = EXAMPLE.original_url;
const EXPIRES = "2026-01-08T00:00:00.000Z";

/** Without a code: it would be in use as soon as one reader has sent the example. */
export const LINK_EXAMPLE = { target: TARGET, expires: EXAMPLE.expire_duration } as const;

const target = text.openapi({
  description: "info.original_url",
  "x-max-length": MAX_TARGET_LENGTH,
  example: TARGET,
});
/** The domain refuses what is no whole number, with a better message. */
const maxVisits = z
  .number()
  .nullish()
  .openapi({ type: ["integer", "null"], minimum: MAX_VISITS.min, maximum: MAX_VISITS.max, example: 100 });
const password = text.openapi({
  format: "password",
  "x-max-length": PASSWORD_LENGTH.max,
  example: "correct horse",
});

/** How `POST /api/v1/shorten` calls these fields. */
export const SHORTEN_NAMES = {
  original_url: "target",
  custom_code: "code",
  expire_duration: "expires",
} as const;

export const linkRequest = z
  .object({
    target,
    code: text.nullish().openapi({
      description: "info.custom_code",
      "x-max-length": MAX_CODE_POINTS,
      example: EXAMPLE.custom_code,
    }),
    expires: text.nullish().openapi({ description: "api.links.expires", example: EXAMPLE.expire_duration }),
    starts: text.nullish().openapi({ description: "api.links.starts", example: "2026-01-01T09:00:00+09:00" }),
    max_visits: maxVisits.openapi({ description: "api.links.max_visits" }),
    password: password.nullish().openapi({ description: "api.links.password" }),
  })
  .openapi("LinkRequest");

export const CHANGE_EXAMPLE = { expires: EXAMPLE.expire_duration } as const;

export const linkChange = z
  .object({
    target: target.optional().openapi({ description: "api.change.target" }),
    expires: text.nullish().openapi({ description: "api.change.expires", example: EXAMPLE.expire_duration }),
    starts: text.nullish().openapi({ description: "api.change.starts", example: "24h" }),
    max_visits: maxVisits.openapi({ description: "api.change.max_visits" }),
    password: password.nullish().openapi({ description: "api.change.password" }),
  })
  .openapi("LinkChange");

const state = referred(z.enum(STATES).openapi("LinkState"));

const link = z
  .object({
    code: text.openapi({ description: "api.link.code", example: EXAMPLE.custom_code }),
    short_url: shortUrl,
    ascii_url: text.openapi({
      format: "uri",
      description: "api.link.ascii_url",
      example: `{base}/${encodeURIComponent(EXAMPLE.custom_code)}/`,
    }),
    original_url: text.nullable().openapi({ description: "api.link.target", example: TARGET }),
    target: text.nullable().openapi({ description: "api.link.target", example: TARGET }),
    created: instant("api.link.created", "2026-01-01T00:00:00.000Z"),
    starts: instant("api.link.starts").nullable().openapi({ example: null }),
    expires: instant("api.link.expires", EXPIRES).nullable(),
    expiration_date: instant("api.link.expiration_date", EXPIRES),
    max_visits: z.int().nullable().openapi({ description: "api.link.max_visits", example: null }),
    visits_used: z.int().nullable().openapi({ description: "api.link.visits_used", example: null }),
    has_password: z.boolean().openapi({ description: "api.link.has_password", example: false }),
    state: state.openapi({ description: "api.link.state", example: "active" }),
    disabled: disabledReason.nullable().openapi({ description: "api.link.disabled", example: null }),
    changed: instant("api.link.changed").nullable().openapi({ example: null }),
    visits: count("api.link.visits", 120),
    qr: z
      .object({
        svg: text.openapi({
          format: "uri",
          example: `{base}/${encodeURIComponent(EXAMPLE.custom_code)}.svg`,
        }),
        png: text.openapi({
          format: "uri",
          example: `{base}/${encodeURIComponent(EXAMPLE.custom_code)}.png`,
        }),
      })
      .openapi("QrCodes", { description: "api.link.qr" }),
  })
  .openapi("Link");

export const managedLink = link
  .extend({
    manage_key: text.openapi({ description: "api.link.manage_key", example: "hXq9JmV0c1B3d2xkUHdyZA" }),
  })
  .openapi("ManagedLink");

export const linkResponse = z.object(envelope("link", link)).openapi("LinkResponse");
export const madeResponse = z.object(envelope("link.made", managedLink)).openapi("MadeResponse");

export const changedResponse = z.object(envelope("link.changed", managedLink)).openapi("ChangedResponse");
export const withdrawnResponse = z.object(envelope("link.ended", managedLink)).openapi("WithdrawnResponse");

export type LinkData = z.infer<typeof link>;
export type ManagedLinkData = z.infer<typeof managedLink>;
