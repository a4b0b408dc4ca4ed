import type { DetachedCall } from "../http/call.ts";
import { type Show, viewEndpoint } from "../http/endpoint.ts";
import { malformed, problemJson } from "../http/problems.ts";
import { parametersOf } from "../http/url.ts";
import { isProblem } from "../links/problem.ts";
import type { ApiParts, ApiViewParts } from "./api-parts.ts";
import { envelope, success } from "./envelope.ts";
import { linkJson, linkSchema } from "./link-json.ts";
import { DEFAULT_LIMIT, LIMIT, readListPage } from "./list-page.ts";
import { asPrivate } from "./manage-key.ts";
import { type Entry, failure, refusal, returns, storeFailures, string } from "./openapi/components.ts";
import { z } from "./openapi/schema.ts";

const MINE = "me";

const page = z
  .object({
    links: z.array(linkSchema),
    cursor: string.nullable().openapi({ description: "api.own.cursor", example: null }),
  })
  .openapi("OwnLinks");

/** Exists only where a proxy names people. */
export const listOwnLinks = viewEndpoint({
  at: "GET /api/v1/links",
  cost: "work",
  entry: {
    tags: ["Links"],
    operationId: "listOwnLinks",
    summary: "api.own",
    description: "api.own.description",
    request: {
      query: z.object({
        owner: z.literal(MINE).openapi({ description: "api.own.owner" }),
        cursor: string.optional().openapi({ description: "api.own.from" }),
        limit: z
          .int()
          .min(LIMIT.min)
          .max(LIMIT.max)
          .default(DEFAULT_LIMIT)
          .openapi({ description: "api.own.limit" }),
      }),
    },
    responses: {
      200: returns("api.own.found", envelope("links", page).openapi("OwnLinksResponse")),
      400: refusal("api.parameter.refused"),
      403: failure("user.missing"),
      ...storeFailures,
    },
  } satisfies Entry,
  view: { parameters: ["owner", "cursor", "limit"], render: renderOwnLinks },
  serve:
    ({ rights }: ApiParts, show: Show<string>) =>
    async (call) => {
      const person = rights.personOf(call);
      if (isProblem(person)) return problemJson(call, person);
      return person === undefined
        ? problemJson(call, { kind: "user.missing" })
        : asPrivate(await show(call, person));
    },
});

function renderOwnLinks({ ownLinks, visits, clock }: ApiViewParts) {
  return async (call: DetachedCall, person: string): Promise<Response> => {
    if (parametersOf(call.request).get("owner") !== MINE)
      return problemJson(call, malformed({ rule: "field.values", field: "owner", values: MINE }));
    const listPage = readListPage(call.request);
    if (isProblem(listPage)) return problemJson(call, listPage);
    const { links, cursor } = await ownLinks(person, listPage);
    const nowMs = clock.nowMs();
    const shown = await Promise.all(
      links.map(async (link) => {
        const { visits: counted } = await visits.sums(link);
        return linkJson(link, call.domain, { nowMs, visits: counted, viewer: "maker" });
      }),
    );
    return success(call, 200, "links", { links: shown, cursor: cursor ?? null });
  };
}
