import { z } from "@hono/zod-openapi";

import type { MessageKey } from "../../locales/messages.ts";
import { SCHEMES } from "../../pages/reference/openapi.ts";
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

/** The security scheme of what only the maker of a link may do. */
export const KEY_SCHEME = {
  name: SCHEMES.key,
  scheme: { type: "http", scheme: "bearer", description: "api.key.scheme" },
} as const;
export const KEY_NEEDED = [{ [KEY_SCHEME.name]: [] }];
/** The operation tells more to whoever has the key. */
export const KEY_HELPS = [{}, ...KEY_NEEDED];
