import { createRoute, z } from "@hono/zod-openapi";

import type { MessageKey } from "../../locales/messages.ts";
import {
  changedResponse,
  CHANGE_EXAMPLE,
  linkChange,
  linkResponse,
  withdrawnResponse,
} from "./link-schemas.ts";
import { codeParameter, KEY_HELPS, KEY_NEEDED, tagged } from "./operation.ts";
import { PATHS } from "./paths.ts";
import { answer, countedAnswer, failed, rateLimit, refused, unavailable } from "./responses.ts";

/** What can go wrong with a key. */
const keyed = (wrong: MessageKey) => ({
  401: failed("api.key", { "WWW-Authenticate": z.string().openapi({ description: "api.token.scheme" }) }),
  403: failed(wrong),
  404: failed("unknown"),
  410: failed("api.over"),
  ...unavailable,
});

/** The operations on links, by their makers and for them. */
export const linkOperations = {
  link: createRoute({
    ...tagged("Links"),
    method: "get",
    path: PATHS.link,
    operationId: "getLink",
    summary: "api.link",
    description: "api.link.description",
    security: KEY_HELPS,
    request: { params: codeParameter },
    responses: {
      200: {
        ...answer("link", linkResponse),
        headers: z.object({
          "X-Poll-Interval": z.int().positive().openapi({ description: "api.poll-interval" }),
          ...rateLimit,
        }),
      },
      403: failed("api.key.wrong"),
      404: failed("unknown"),
      410: failed("api.gone"),
      ...unavailable,
    },
  }),
  changeLink: createRoute({
    ...tagged("Links"),
    method: "patch",
    path: PATHS.link,
    operationId: "changeLink",
    summary: "api.change",
    description: "api.change.description",
    security: KEY_NEEDED,
    request: {
      params: codeParameter,
      body: {
        required: true,
        content: { "application/json": { schema: linkChange, example: CHANGE_EXAMPLE } },
      },
    },
    responses: {
      200: countedAnswer("api.changed", changedResponse),
      400: refused("api.body.refused"),
      413: failed("api.body.too-large"),
      415: failed("api.body.type"),
      ...keyed("api.key.closed"),
    },
  }),
  withdrawLink: createRoute({
    ...tagged("Links"),
    method: "delete",
    path: PATHS.link,
    operationId: "withdrawLink",
    summary: "api.withdraw",
    description: "api.withdraw.description",
    security: KEY_NEEDED,
    request: { params: codeParameter },
    responses: { 200: countedAnswer("api.withdrawn", withdrawnResponse), ...keyed("api.key.wrong") },
  }),
};
