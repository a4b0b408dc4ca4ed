import type { Call } from "../../http/call.ts";
import { endpoint, type Show } from "../../http/endpoint.ts";
import { type HttpProblem, malformed, problemJson } from "../../http/problems.ts";
import { parametersOf } from "../../http/url.ts";
import { lookUpKey, splitKey } from "../../links/code.ts";
import type { LinkId } from "../../links/link-store.ts";
import { isProblem } from "../../links/problem.ts";
import { readTerms } from "../../links/terms/term-values.ts";
import { isoInstant, parseInstant } from "../../links/time.ts";
import type { Operator } from "../../moderation/operator.ts";
import type { SearchResult } from "../../views/reads.ts";
import { target } from "../create-link.ts";
import { success } from "../envelope.ts";
import { getStatistics } from "../get-statistics.ts";
import { readListPage } from "../list-page.ts";
import { z } from "../openapi/schema.ts";
import {
  asOperator,
  decision,
  linkDecision,
  note,
  noteRequest,
  type OperatorApiParts,
  operatorView,
  reason,
  reasonedRequest,
  respond,
} from "./operator-endpoint.ts";
import { inspectedJson, linkJson } from "./operator-json.ts";
import { newestMs, readSearch, searchAll, searchLinks } from "./search-slices.ts";

export const searchForLinks = operatorView(
  "GET /api/v1/admin/links",
  (inspection) =>
    async (call, { links: ids, cursor, searched }: SearchResult) => {
      const links = await inspection.links(ids);
      const nowMs = inspection.nowMs();
      return respond(call, {
        links: links.map((link) => linkJson(link, nowMs)),
        cursor: cursor ?? null,
        searched: Math.floor(searched * 1000) / 1000,
      });
    },
  ({ views }: OperatorApiParts, show: Show<SearchResult>) =>
    async (call) => {
      const page = readListPage(call.request);
      if (isProblem(page)) return problemJson(call, page);
      const result = await searchLinks(views, readSearch(call.request), page);
      return "kind" in result ? problemJson(call, result) : show(call, result);
    },
);

export const inspectLink = operatorView("GET /api/v1/admin/links/{code}", (inspection) => async (call) => {
  const inspected = await inspection.details(call.code);
  if (isProblem(inspected)) return problemJson(call, inspected);
  const data = inspectedJson(inspected, inspection.nowMs());
  return respond(call, data, { ETag: `"${data.revision}"` });
});

/** The statistics that the link's maker sees. */
export const inspectStatistics = endpoint({
  at: "GET /api/v1/admin/links/{code}/stats",
  cost: "little",
  serve(parts: OperatorApiParts) {
    const show = parts.views.show(getStatistics);
    return asOperator(parts, async (call) => {
      const link = await parts.operator.find(call.code);
      if (isProblem(link)) return problemJson(call, link);
      const domain = call.domain.ofKey(link.code);
      if (domain === undefined) return problemJson(call, { kind: "unknown" });
      return show(call.at(domain, splitKey(link.code).code), { viewer: "maker", createdMs: link.createdMs });
    });
  },
});

export const changeLink = linkDecision(
  "PATCH /api/v1/admin/links/{code}",
  z.strictObject({
    target: target.optional(),
    expires_at: z.string().nullish(),
    owner: z.string().optional(),
    note,
  }),
  ({ operator }, link) =>
    async (body, actor) => {
      const read = readTerms({ expires_at: body.expires_at });
      if (isProblem(read)) return read;
      const { owner, note: why, target: originalUrl, expires_at } = body;
      if (owner !== undefined && (originalUrl !== undefined || expires_at !== undefined))
        return malformed({
          rule: "field.unknown",
          field: originalUrl === undefined ? "expires_at" : "target",
        });
      if (owner !== undefined) return operator.handOver([link], { owner, note: why }, actor);
      return operator.change(link, { ...read, note: why, originalUrl }, actor);
    },
  { example: { target: "https://example.com/new", note: "The shop has moved." } },
);

export const disableLink = linkDecision(
  "POST /api/v1/admin/links/{code}/disable",
  reasonedRequest,
  ({ operator }, link) =>
    (body, actor) =>
      operator.disable([link], body, actor),
);

export const enableLink = linkDecision(
  "POST /api/v1/admin/links/{code}/enable",
  noteRequest,
  ({ operator }, link) =>
    (body, actor) =>
      operator.enable([link], body, actor),
);

export const eraseLink = linkDecision(
  "DELETE /api/v1/admin/links/{code}",
  noteRequest,
  ({ operator }, link, call) => {
    const { code } = link;
    const confirm = parametersOf(call.request).get("confirm") ?? "";
    if (lookUpKey(confirm, call.domain.codeCase) !== code)
      return malformed({ rule: "operator.confirm", field: "confirm", code });
    return (body, actor) => operator.erase(link, body, actor);
  },
);

/** `count` and `until` repeat the first response: the number of links, and when the newest was created. */
const countedRequest = z.object({ note, count: z.number().nullish(), until: z.string().nullish() });

export const disableAll = decision(
  "POST /api/v1/admin/links/disable",
  countedRequest.extend({ reason }),
  (parts, call) => (body, actor) =>
    changeAll(parts, call, body, (links) => parts.operator.disable(links, body, actor)),
);

export const enableAll = decision(
  "POST /api/v1/admin/links/enable",
  countedRequest,
  (parts, call) => (body, actor) =>
    changeAll(parts, call, body, (links) => parts.operator.enable(links, body, actor)),
);

export const handOverAll = decision(
  "POST /api/v1/admin/links/hand-over",
  countedRequest.extend({ owner: z.string() }),
  (parts, call) => (body, actor) =>
    changeAll(parts, call, body, (links) => parts.operator.handOver(links, body, actor)),
);

/** Decides about all links that a search finds, once the operator has confirmed their number. */
async function changeAll(
  { views, refusalOf }: OperatorApiParts,
  call: Call,
  { count, until }: z.infer<typeof countedRequest>,
  change: (links: readonly LinkId[]) => ReturnType<Operator["disable"]>,
) {
  const untilMs = parseInstant(until ?? "");
  if (typeof until === "string" && untilMs === undefined)
    return malformed({ rule: "query.date", field: "until", example: "2026-11-21T20:15:00.000Z" });
  const isConfirmed = typeof count === "number";
  const links = await searchAll(
    views,
    call,
    isConfirmed ? { count, untilMs: untilMs ?? Infinity } : undefined,
  );
  if ("kind" in links) return links satisfies HttpProblem;
  // Access may have ended during the search.
  const refusal = refusalOf(call);
  if (refusal !== undefined) return refusal;
  if (!isConfirmed) {
    const found = { count: links.length, until: isoInstant(newestMs(links)), done: false };
    return success(call, 200, "operator.asked", found);
  }
  const decided = await change(links);
  return isProblem(decided) ? decided : { count, done: true, ...decided };
}
