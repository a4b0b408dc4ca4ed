import { z } from "@hono/zod-openapi";

import type { Call } from "../../http/call.ts";
import { type HttpProblem, malformed, problemJson } from "../../http/problems.ts";
import { answer } from "../../http/responses.ts";
import { parametersOf } from "../../http/url.ts";
import { BODIES } from "../../lib/bounds.ts";
import type { OtherRevision } from "../../links/change.ts";
import { lookUpKey, splitKey } from "../../links/code.ts";
import { isProblem } from "../../links/problem.ts";
import type { LinkId } from "../../links/store.ts";
import { readTerms } from "../../links/term-values.ts";
import type { Inspection } from "../../moderation/inspection.ts";
import type { RefusedDecision } from "../../moderation/refusal.ts";
import { parseSearch } from "../../moderation/search.ts";
import { target } from "../create-link.ts";
import { success } from "../envelope.ts";
import { readJson } from "../json-body.ts";
import type { CheckedKey } from "../manage-key.ts";
import {
  type AdminApiOptions,
  type AdminApiViews,
  type Endpoints,
  note,
  noteRequest,
  type Outcome,
  readBody,
  readPart,
  reason,
  reasonedRequest,
  type SearchResult,
  show,
  WHO,
} from "./endpoint.ts";
import { inspectedJson, linkJson } from "./operator-json.ts";
import { readSearch, searchAll, searchLinks, searchSlice } from "./search.ts";

/** `count` is how many links the first response said there are. */
const countedRequest = z.object({ note, count: z.number().nullish() });
const countedReasonedRequest = countedRequest.extend({ reason });

const CHANGE_EXAMPLE = { target: "https://example.com/new", note: "The shop has moved." } as const;
const linkChange = z.strictObject({ target: target.optional(), expires_at: z.string().nullish(), note });

const NO_RESULT: SearchResult = { links: [], searched: 0 };

/** Handlers on the serving thread. */
export function linkEndpoints(
  { operator, views }: AdminApiOptions,
  { guarded, ask, decide, decideLink }: Endpoints,
) {
  /** Changes nothing until the operator sends back how many links there are. */
  async function changeAll(
    call: Call,
    confirmed: number | null | undefined,
    change: (links: readonly LinkId[]) => Promise<readonly LinkId[] | RefusedDecision | OtherRevision>,
  ): Promise<HttpProblem | Outcome | Response> {
    const links = await searchAll(views, call);
    if (links instanceof Response || isProblem(links)) return links;
    const count = links.length;
    if (typeof confirmed !== "number") return success(call, 200, "operator.asked", { count, done: false });
    if (confirmed !== count) return { kind: "other-count", count };
    const changed = await change(links);
    return isProblem(changed) ? changed : { count, done: true, changed: changed.length };
  }

  return {
    links: guarded(async (call) => {
      const part = readPart(call.request);
      if (isProblem(part)) return problemJson(call, part);
      const result = await searchLinks(views, call, part);
      return result instanceof Response ? result : ask(call, { view: "links", result });
    }),

    link: guarded((call) => ask(call, { view: "link" })),

    /** The statistics that the link's maker sees. */
    statistics: guarded(async (call) => {
      const link = await operator.find(call.code);
      if (isProblem(link)) return problemJson(call, link);
      const checked: CheckedKey = { createdMs: link.createdMs };
      const domain = call.domain.ofKey(link.code);
      if (domain === undefined) return problemJson(call, { kind: "unknown" });
      return views.ask("statistics", call.at(domain, splitKey(link.code).code), JSON.stringify(checked));
    }),

    change: decideLink(async (call, link) => {
      const body = await readJson(
        call.request,
        BODIES["PATCH /api/v1/admin/links/{code}"],
        linkChange,
        CHANGE_EXAMPLE,
      );
      if (isProblem(body)) return body;
      const read = readTerms({ expires_at: body.expires_at });
      if (isProblem(read)) return read;
      const changed = await operator.change(
        link,
        { ...read, note: body.note, originalUrl: body.target },
        WHO,
      );
      return typeof changed === "boolean" ? { code: link.code, changed } : changed;
    }),

    disable: decideLink(async (call, link) => {
      const body = await readBody(call, BODIES["POST /api/v1/admin/links/{code}/disable"], reasonedRequest);
      const changed = isProblem(body) ? body : await operator.disable([link], body, WHO);
      return isProblem(changed) ? changed : { code: link.code, changed: changed.length > 0 };
    }),

    enable: decideLink(async (call, link) => {
      const body = await readBody(call, BODIES["POST /api/v1/admin/links/{code}/enable"], noteRequest);
      const changed = isProblem(body) ? body : await operator.enable([link], body, WHO);
      return isProblem(changed) ? changed : { code: link.code, changed: changed.length > 0 };
    }),

    erase: decideLink(async (call, link) => {
      const { code } = link;
      const confirm = parametersOf(call.request).get("confirm") ?? "";
      if (lookUpKey(confirm) !== code) return malformed({ rule: "operator.confirm", field: "confirm", code });
      const body = await readBody(call, BODIES["DELETE /api/v1/admin/links/{code}"], noteRequest);
      const changed = isProblem(body) ? body : await operator.erase(link, body, WHO);
      return isProblem(changed) ? changed : { code, changed };
    }),

    /** POST of links/disable and links/enable, for all links that a search finds. */
    changeAll: decide(async (call) => {
      if (call.code === "disable") {
        const body = await readBody(call, BODIES["POST /api/v1/admin/links/disable"], countedReasonedRequest);
        if (isProblem(body)) return body;
        return changeAll(call, body.count, (links) => operator.disable(links, body, WHO));
      }
      if (call.code === "enable") {
        const body = await readBody(call, BODIES["POST /api/v1/admin/links/enable"], countedRequest);
        if (isProblem(body)) return body;
        return changeAll(call, body.count, (links) => operator.enable(links, body, WHO));
      }
      return { kind: "method", method: call.request.method, allow: "GET, HEAD, DELETE, OPTIONS" };
    }),
  };
}

/** Handlers on the views thread. */
export const linkViews = (inspection: Inspection): AdminApiViews<"links" | "link" | "search"> => ({
  async links(call, { result: { links: ids, cursor, searched } = NO_RESULT }) {
    const links = await inspection.links(ids);
    const nowMs = inspection.nowMs();
    return show(call, {
      links: links.map((link) => linkJson(link, nowMs)),
      cursor: cursor ?? null,
      searched: Math.floor(searched * 1000) / 1000,
    });
  },

  async link(call) {
    const inspected = await inspection.details(call.code);
    if (isProblem(inspected)) return problemJson(call, inspected);
    const data = inspectedJson(inspected, inspection.nowMs());
    return show(call, data, { ETag: `"${data.revision}"` });
  },

  /** The serving thread reads the response, so it isn't compressed. */
  async search(call, { part = { limit: 1 } }) {
    const query = parseSearch(readSearch(call.request));
    if (isProblem(query)) return problemJson(call, query);
    const result = await searchSlice(inspection, query, part);
    return answer({ type: "application/json", body: JSON.stringify(result) });
  },
});
