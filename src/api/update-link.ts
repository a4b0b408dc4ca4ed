import { createRoute, z } from "@hono/zod-openapi";

import type { Call } from "../http/call.ts";
import { type HttpProblem, problemJson } from "../http/problems.ts";
import { requiredTags } from "../http/responses.ts";
import { BODIES } from "../lib/bounds.ts";
import type { EditRequest } from "../links/edit.ts";
import { isProblem } from "../links/problem.ts";
import { readTerms } from "../links/term-values.ts";
import {
  bodyFailures,
  codeParameter,
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
import type { KeyedLinks } from "./manage-key.ts";

const CHANGE_EXAMPLE = { expires_at: EXAMPLE.expire_duration } as const;

const linkChange = z
  .strictObject({
    target: target.optional().openapi({ description: "api.change.target" }),
    ...termShape((name) => `api.change.${name}`),
  })
  .openapi("LinkChange");

export const updateLinkRoute = createRoute({
  tags: ["Links"],
  method: "patch",
  path: "/api/v1/links/{code}",
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
});

/** Runs on the serving thread. */
export const updateLink = ({ withKey, edit, respond }: KeyedLinks) =>
  withKey(async (call, link) => {
    const request = await readChange(call);
    const outcome = isProblem(request) ? request : await edit(call, link, request);
    return isProblem(outcome) ? problemJson(call, outcome) : respond(call, "link.changed", outcome);
  });

async function readChange({ request }: Call): Promise<EditRequest | HttpProblem> {
  const body = await readJson(
    request,
    BODIES["PATCH /api/v1/links/{code}"],
    linkChange,
    CHANGE_EXAMPLE,
    Object.keys(managedLinkSchema.shape),
  );
  if (isProblem(body)) return body;
  const read = readTerms(body);
  if (isProblem(read)) return read;
  return { ...read, originalUrl: body.target, ifRevisions: requiredTags(request.headers) };
}
