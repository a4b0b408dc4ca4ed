import type { Call } from "../../http/call.ts";
import type { Show } from "../../http/endpoint.ts";
import { type HttpProblem, malformed, problemJson } from "../../http/problems.ts";
import { parametersOf } from "../../http/url.ts";
import { lookUpKey, splitKey } from "../../links/code.ts";
import { isProblem } from "../../links/problem.ts";
import type { LinkId } from "../../links/store.ts";
import { readTerms } from "../../links/term-values.ts";
import { isoInstant, parseInstant } from "../../links/time.ts";
import type { Operator } from "../../moderation/operator.ts";
import type { SearchResult } from "../../views/reads.ts";
import { target } from "../create-link.ts";
import { success } from "../envelope.ts";
import { readJson } from "../json-body.ts";
import { z } from "../schema.ts";
import { getStatistics } from "../statistics.ts";
import {
  decision,
  linkDecision,
  note,
  noteRequest,
  type OperatorApiParts,
  operatorView,
  reason,
  reasonedRequest,
  actorOf,
} from "./endpoint.ts";
import { inspectedJson, linkJson } from "./operator-json.ts";
import { readSearch, searchAll, searchLinks } from "./search.ts";

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
export const inspectStatistics = operatorEndpoint(
  "GET /api/v1/admin/links/{code}/stats",
  ({ operator, views }) => {
    const show = views.show(getStatistics);
    return async (call) => {
      const link = await operator.find(call.code);
      if (isProblem(link)) return problemJson(call, link);
      const domain = call.domain.ofKey(link.code);
      if (domain === undefined) return problemJson(call, { kind: "unknown" });
      return show(call.at(domain, splitKey(link.code).code), { createdMs: link.createdMs });
    };
  },
);

const CHANGE_EXAMPLE = { target: "https://example.com/new", note: "The shop has moved." } as const;
const linkChange = z.strictObject({ target: target.optional(), expires_at: z.string().nullish(), note });

export const changeLink = linkDecision("PATCH /api/v1/admin/links/{code}", async (parts, call, link) => {
  const bounds = BODIES["PATCH /api/v1/admin/links/{code}"];
  const sent = await readJson(call.request, bounds, linkChange, CHANGE_EXAMPLE);
  const body = parts.refusalOf(call) ?? sent;
  if (isProblem(body)) return body;
  const read = readTerms({ expires_at: body.expires_at });
  if (isProblem(read)) return read;
  const change = { ...read, note: body.note, originalUrl: body.target };
  const changed = await parts.operator.change(link, change, actorOf(call));
  return typeof changed === "boolean" ? { code: link.code, changed } : changed;
});

export const disableLink = linkDecision(
  "POST /api/v1/admin/links/{code}/disable",
  async (parts, call, link) => {
    const body = await readBody(
      parts,
      call,
      BODIES["POST /api/v1/admin/links/{code}/disable"],
      reasonedRequest,
    );
    const changed = isProblem(body) ? body : await parts.operator.disable([link], body, actorOf(call));
    return isProblem(changed) ? changed : { code: link.code, changed: changed.links.length > 0 };
  },
);

export const enableLink = linkDecision(
  "POST /api/v1/admin/links/{code}/enable",
  async (parts, call, link) => {
    const body = await readBody(parts, call, BODIES["POST /api/v1/admin/links/{code}/enable"], noteRequest);
    const changed = isProblem(body) ? body : await parts.operator.enable([link], body, actorOf(call));
    return isProblem(changed) ? changed : { code: link.code, changed: changed.links.length > 0 };
  },
);

export const eraseLink = linkDecision("DELETE /api/v1/admin/links/{code}", async (parts, call, link) => {
  const { code } = link;
  const confirm = parametersOf(call.request).get("confirm") ?? "";
  if (lookUpKey(confirm) !== code) return malformed({ rule: "operator.confirm", field: "confirm", code });
  const body = await readBody(parts, call, BODIES["DELETE /api/v1/admin/links/{code}"], noteRequest);
  const changed = isProblem(body) ? body : await parts.operator.erase(link, body, actorOf(call));
  return isProblem(changed) ? changed : { code, changed };
});

export const disableAll = decision(
  "POST /api/v1/admin/links/disable",
  countedRequest.extend({ reason }),
  (parts, call) => (body, actor) =>
    changeAll(parts, call, body, (links) => parts.operator.disable(links, body, actor)),
);

export const disableAll = decision("POST /api/v1/admin/links/disable", (parts) => async (call) => {
  const body = await readBody(
    parts,
    call,
    BODIES["POST /api/v1/admin/links/disable"],
    countedReasonedRequest,
  );
  if (isProblem(body)) return body;
  return changeAll(parts, call, body.count, (links) => parts.operator.disable(links, body, actorOf(call)));
});

export const enableAll = decision("POST /api/v1/admin/links/enable", (parts) => async (call) => {
  const body = await readBody(parts, call, BODIES["POST /api/v1/admin/links/enable"], undoRequest);
  if (isProblem(body)) return body;
  const undoesMs = parseInstant(body.undoes ?? "");
  if (typeof body.undoes === "string" && undoesMs === undefined)
    return malformed({ rule: "query.date", field: "undoes", example: "2026-11-21T20:15:00.000Z" });
  const request = { ...body, undoesMs };
  return changeAll(parts, call, body.count, (links) => parts.operator.enable(links, request, actorOf(call)));
});

/** For all links that a search finds. Changes nothing until the operator sends back how many there are. */
async function changeAll(
  { views, refusalOf }: OperatorApiParts,
  call: Call,
  confirmed: number | null | undefined,
  change: (links: readonly LinkId[]) => ReturnType<Operator["disable"]>,
) {
  const links = await searchAll(views, call);
  if ("kind" in links) return links satisfies HttpProblem;
  // Access may have ended during the search.
  const refusal = refusalOf(call);
  if (refusal !== undefined) return refusal;
  const count = links.length;
  if (typeof confirmed !== "number") return success(call, 200, "operator.asked", { count, done: false });
  if (confirmed !== count) return { kind: "other-count", count } as const;
  const changed = await change(links);
  if (isProblem(changed)) return changed;
  return { count, done: true, changed: changed.links.length, at: isoInstant(changed.atMs) };
}
