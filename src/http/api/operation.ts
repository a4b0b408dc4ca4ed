import { z } from "@hono/zod-openapi";

import type { MessageKey } from "../../language/messages.ts";
import { SCHEMES } from "../../pages/openapi.ts";
import { answer, failed, rateLimit, refused, unavailable } from "./responses.ts";
import { EXAMPLE } from "./schemas.ts";

// What operations have in common. As in schemas.ts, every description is the key of a message.

const text = z.string();

/** Descriptions of the tags. Generators turn the names into names of modules and classes. */
export const TAGS = {
  Links: "api.tag.links",
  Statistics: "api.tag.statistics",
  Reports: "api.tag.reports",
  "QR codes": "api.tag.qr",
  Reference: "api.tag.reference",
} as const satisfies Record<string, MessageKey>;

export const tagged = (tag: keyof typeof TAGS) => ({ tags: [tag] });

export const codeParameter = z.object({
  code: text.openapi({
    param: { name: "code", in: "path" },
    description: "api.code",
    example: EXAMPLE.custom_code,
  }),
});

/** What both operations that make a link have in common. */
export const made = <T extends z.ZodType>(schema: T) => ({
  201: {
    ...answer("api.made", schema),
    headers: z.object({
      Location: text.openapi({ format: "uri", description: "api.location" }),
      Link: text.openapi({ description: "api.edit-link" }),
      ...rateLimit,
    }),
  },
  400: refused("api.body.refused"),
  409: failed("api.taken"),
  413: failed("api.body.too-large"),
  415: failed("api.body.type"),
  ...unavailable,
});

/** The security scheme of what only the maker of a link may do. */
export const KEY_SCHEME = {
  name: SCHEMES.key,
  scheme: { type: "http", scheme: "bearer", description: "api.key.scheme" },
} as const;
export const KEY_NEEDED = [{ [KEY_SCHEME.name]: [] }];
/** The operation tells more to whoever has the key. */
export const KEY_HELPS = [{}, ...KEY_NEEDED];
