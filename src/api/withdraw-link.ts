import { endpoint } from "../http/endpoint.ts";
import { requiredTags } from "../http/responses.ts";
import { isProblem } from "../links/problem.ts";
import { codeParameter, type Entry, etag, ifMatch, KEY_NEEDED, keyFailures, returns } from "./components.ts";
import { envelope } from "./envelope.ts";
import { managedLinkSchema } from "./link-json.ts";
import { createKeyedLinks } from "./manage-key.ts";
import type { ApiParts } from "./parts.ts";

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
        envelope("link.ended", managedLinkSchema).openapi("WithdrawnLinkResponse"),
        etag,
      ),
      ...keyFailures("api.key.wrong"),
    },
  } satisfies Entry,
  serve: (parts: ApiParts) => {
    const { withKey, respond } = createKeyedLinks(parts);
    return withKey(async (call, link) => {
      const outcome = await parts.links.withdraw(link, requiredTags(call.headers));
      return isProblem(outcome) ? problemJson(call, outcome) : respond(call, "link.ended", outcome);
    });
  },
});
