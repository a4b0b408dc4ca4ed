import type { Call } from "../http/call.ts";
import { endpoint } from "../http/endpoint.ts";
import { type HttpProblem, problemJson } from "../http/problems.ts";
import { requiredTags } from "../http/responses.ts";
import type { Rights } from "../http/rights.ts";
import { type Body, BODIES } from "../lib/bounds.ts";
import type { EditRequest } from "../links/edit.ts";
import { isProblem } from "../links/problem.ts";
import { readTerms } from "../links/terms/term-values.ts";
import type { ApiParts } from "./api-parts.ts";
import { target, termShape } from "./create-link.ts";
import { envelope } from "./envelope.ts";
import { readJson } from "./json-body.ts";
import { changedLinkSchema } from "./link-json.ts";
import { createKeyedLinks } from "./manage-key.ts";
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
  string,
} from "./openapi/components.ts";
import { z } from "./openapi/schema.ts";

const CHANGE_EXAMPLE = { expires_at: EXAMPLE.expire_duration } as const;

const linkChange = z
  .strictObject({
    target: target.optional().openapi({ description: "api.change.target" }),
    owner: string.optional().openapi({ description: "api.change.owner", example: "joon" }),
    ...termShape((name) => `api.change.${name}`),
  })
  .openapi("LinkChange");
/** Where no proxy names people, no link has an owner. */
const withoutOwner = linkChange.omit({ owner: true });
const FIELDS_OF_LINKS = Object.keys(changedLinkSchema.shape);

const AT = "PATCH /api/v1/links/{code}";
const WITHOUT_OWNER = {
  ...BODIES[AT],
  fields: BODIES[AT].fields.filter((name) => name !== "owner"),
} as Body<keyof typeof withoutOwner.shape>;

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
        envelope("link.changed", changedLinkSchema).openapi("UpdatedLinkResponse"),
        etag,
      ),
      ...bodyFailures,
      ...keyFailures("api.key.closed"),
    },
  } satisfies Entry,
  serve: (parts: ApiParts) => {
    const { withRight, edit, respond } = createKeyedLinks(parts);
    const change = (request: EditRequest) =>
      withRight((call, opened) => respond(call, "link.changed", opened, () => edit(call, opened, request)));
    return withRight(async (call) => {
      const request = await readChange(call, parts.rights);
      // Looks the link up again, because it may have changed while the body arrived.
      return isProblem(request) ? problemJson(call, request) : change(request)(call);
    });
  },
});

async function readChange(
  { request }: Call,
  { hasPeople }: Pick<Rights, "hasPeople">,
): Promise<EditRequest | HttpProblem> {
  const body: z.infer<typeof linkChange> | HttpProblem = hasPeople
    ? await readJson(request, BODIES[AT], linkChange, CHANGE_EXAMPLE, FIELDS_OF_LINKS)
    : await readJson(
        request,
        WITHOUT_OWNER,
        withoutOwner,
        CHANGE_EXAMPLE,
        FIELDS_OF_LINKS.filter((name) => name !== "owner"),
      );
  if (isProblem(body)) return body;
  const read = readTerms(body);
  if (isProblem(read)) return read;
  const { target: originalUrl, owner } = body;
  return { ...read, originalUrl, owner, ifRevisions: requiredTags(request.headers) };
}
