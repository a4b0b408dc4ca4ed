import { createRoute } from "@hono/zod-openapi";

import { problemJson } from "../http/problems.ts";
import { requiredTags } from "../http/responses.ts";
import { isProblem } from "../links/problem.ts";
import { codeParameter, etag, ifMatch, KEY_NEEDED, keyFailures, returns } from "./components.ts";
import { envelope } from "./envelope.ts";
import { managedLinkSchema } from "./link-json.ts";
import type { KeyedLinks } from "./manage-key.ts";
import type { ApiOptions } from "./parts.ts";

export const withdrawLinkRoute = createRoute({
  tags: ["Links"],
  method: "delete",
  path: "/api/v1/links/{code}",
  operationId: "withdrawLink",
  summary: "api.withdraw",
  description: "api.withdraw.description",
  security: KEY_NEEDED,
  request: { params: codeParameter, headers: ifMatch },
  responses: {
    200: returns(
      "api.withdrawn",
      envelope("link.ended", managedLinkSchema).openapi("WithdrawnLinkResponse"),
      etag,
    ),
    ...keyFailures("api.key.wrong"),
  },
});

/** Runs on the serving thread. */
export const withdrawLink = ({ links }: ApiOptions, { withKey, respond }: KeyedLinks) =>
  withKey(async (call, link) => {
    const outcome = await links.withdraw(link, requiredTags(call.headers));
    return isProblem(outcome) ? problemJson(call, outcome) : respond(call, "link.ended", outcome);
  });
