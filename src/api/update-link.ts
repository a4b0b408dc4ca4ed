import type { Call } from "../http/call.ts";
import { endpoint } from "../http/endpoint.ts";
import { type HttpProblem, problemJson } from "../http/problems.ts";
import { requiredTags } from "../http/responses.ts";
import { BODIES } from "../lib/bounds.ts";
import type { EditRequest } from "../links/edit.ts";
import { isProblem } from "../links/problem.ts";
import { readTerms } from "../links/term-values.ts";
import {
  bodyFailures,
  codeParameter,
  type Entry,
  etag,
  EXAMPLE,
  ifMatch,
  jsonBody,
  KEY_NEEDED,
  keyFailures,
  returns,
} from "./components.ts";
import { target, termShape } from "./create-link.ts";
import { envelope } from "./envelope.ts";
import { readJson } from "./json-body.ts";
import { managedLinkSchema } from "./link-json.ts";
import { createKeyedLinks } from "./manage-key.ts";
import type { ApiParts } from "./parts.ts";
import { z } from "./schema.ts";

const CHANGE_EXAMPLE = { expires_at: EXAMPLE.expire_duration } as const;

const linkChange = z
  .strictObject({
    target: target.optional().openapi({ description: "api.change.target" }),
    ...termShape((name) => `api.change.${name}`),
  })
  .openapi("LinkChange");

const AT = "PATCH /api/v1/links/{code}";

export const updateLink = endpoint({
  at: AT,
  cost: "work",
  changesLinks: true,
  entry: {
    tags: ["Links"],
    operationId: "updateLink",
    summary: "api.change",
    description: "api.change.description",
    security: KEY_NEEDED,
    request: { params: codeParameter, headers: ifMatch, body: jsonBody(linkChange, CHANGE_EXAMPLE) },
    responses: {
      200: returns(
        "api.changed",
        envelope("link.changed", managedLinkSchema).openapi("UpdatedLinkResponse"),
        etag,
      ),
      ...bodyFailures,
      ...keyFailures("api.key.closed"),
    },
  } satisfies Entry,
  serve: (parts: ApiParts) => {
    const { withKey, edit, respond } = createKeyedLinks(parts);
    const change = (request: EditRequest) =>
      withKey(async (call, link) => {
        const outcome = await edit(call, link, request);
        return isProblem(outcome) ? problemJson(call, outcome) : respond(call, "link.changed", outcome);
      });
    return withKey(async (call) => {
      const request = await readChange(call);
      // Looks the link up again, because it may have changed while the body arrived.
      return isProblem(request) ? problemJson(call, request) : change(request)(call);
    });
  },
});

async function readChange({ request }: Call): Promise<EditRequest | HttpProblem> {
  const body = await readJson(
    request,
    BODIES[AT],
    linkChange,
    CHANGE_EXAMPLE,
    Object.keys(managedLinkSchema.shape),
  );
  if (isProblem(body)) return body;
  const read = readTerms(body);
  if (isProblem(read)) return read;
  return { ...read, originalUrl: body.target, ifRevisions: requiredTags(request.headers) };
}
