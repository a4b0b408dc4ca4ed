import { endpoint } from "../http/endpoint.ts";
import { requiredTags } from "../http/responses.ts";
import type { ApiParts } from "./api-parts.ts";
import { envelope } from "./envelope.ts";
import { changedLinkSchema } from "./link-json.ts";
import { createKeyedLinks } from "./manage-key.ts";
import {
  codeParameter,
  type Entry,
  etag,
  ifMatch,
  KEY_NEEDED,
  keyFailures,
  returns,
} from "./openapi/components.ts";

export const withdrawLink = endpoint({
  at: "DELETE /api/v1/links/{code}",
  cost: "work",
  changesLinks: true,
  entry: {
    tags: ["Links"],
    operationId: "withdrawLink",
    summary: "api.withdraw",
    description: "api.withdraw.description",
    security: KEY_NEEDED,
    request: { params: codeParameter, headers: ifMatch },
    responses: {
      200: returns(
        "api.withdrawn",
        envelope("link.ended", changedLinkSchema).openapi("WithdrawnLinkResponse"),
        etag,
      ),
      ...keyFailures("api.key.wrong"),
    },
  } satisfies Entry,
  serve: (parts: ApiParts) => {
    const { withRight, respond } = createKeyedLinks(parts);
    return withRight((call, opened) =>
      respond(call, "link.ended", opened, () =>
        opened.right === "maker"
          ? parts.links.withdraw(opened.link, requiredTags(call.headers))
          : Promise.resolve({ kind: "owner.other" as const }),
      ),
    );
  },
});
