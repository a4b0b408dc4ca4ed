import { createRoute, z } from "@hono/zod-openapi";

import type { Call } from "../http/call.ts";
import { type HttpProblem, problemJson } from "../http/problems.ts";
import { requiredTags } from "../http/responses.ts";
import { BODIES } from "../lib/bounds.ts";
import type { EditRequest } from "../links/edit.ts";
import { isProblem } from "../links/problem.ts";
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
  string,
} from "./components.ts";
import { maxVisits, password, readDates, target } from "./create-link.ts";
import { envelope } from "./envelope.ts";
import { readJson } from "./json-body.ts";
import { managedLinkSchema } from "./link-json.ts";
import type { KeyedLinks } from "./manage-key.ts";

const CHANGE_EXAMPLE = { expires_at: EXAMPLE.expire_duration } as const;

const linkChange = z
  .strictObject({
    target: target.optional().openapi({ description: "api.change.target" }),
    expires_at: string
      .nullish()
      .openapi({ description: "api.change.expires_at", example: EXAMPLE.expire_duration }),
    starts_at: string.nullish().openapi({ description: "api.change.starts_at", example: "24h" }),
    max_visits: maxVisits.openapi({ description: "api.change.max_visits" }),
    password: password.openapi({ description: "api.change.password" }),
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
  const dates = readDates(body);
  if (isProblem(dates)) return dates;
  return {
    ...dates,
    originalUrl: body.target,
    maxVisits: body.max_visits,
    password: body.password,
    ifRevisions: requiredTags(request.headers),
  };
}
