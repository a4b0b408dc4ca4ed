import { z } from "@hono/zod-openapi";

import { BODIES } from "../../lib/bounds.ts";
import { isProblem } from "../../links/problem.ts";
import { ANSWERS } from "../../moderation/case.ts";
import type { Inspection } from "../../moderation/inspection.ts";
import {
  type AdminApiOptions,
  type Endpoints,
  listView,
  note,
  readBody,
  reason,
  WHO,
  noteRequest,
  reasonedRequest,
} from "./endpoint.ts";
import { caseJson, ruleJson } from "./operator-json.ts";

/** "nothing" needs no reason. */
const caseRequest = z.object({ action: z.enum([...ANSWERS, "reopen"]), reason: reason.nullish(), note });

/** Handlers on the serving thread. */
export const caseEndpoints = ({ cases }: AdminApiOptions, { show, decideLink }: Endpoints) => ({
  cases: show("cases"),

  answerCase: decideLink(async (call, link) => {
    const body = await readBody(call, BODIES["POST /api/v1/admin/cases/{code}"], caseRequest);
    if (isProblem(body)) return body;
    const outcome =
      body.action === "reopen"
        ? await cases.reopenCase(link, {}, body, WHO)
        : await cases.answerCase(link, { ...body, reason: body.reason ?? undefined }, WHO);
    if (outcome === undefined || !isProblem(outcome)) return { code: link.code, changed: true };
    return outcome.kind === "unknown" ? { kind: "operator.no-case" } : outcome;
  }),
});

/** On the views thread. */
export const casesView = (inspection: Inspection) =>
  listView("cases", inspection.cases, (one) => caseJson(one, inspection.nowMs()));

/** Handlers on the serving thread. */
export const hostEndpoints = ({ operator }: AdminApiOptions, { show, decide }: Endpoints) => ({
  hosts: show("hosts"),

  block: decide(async (call) => {
    const body = await readBody(call, BODIES["PUT /api/v1/admin/hosts/{host}"], reasonedRequest);
    return isProblem(body) ? body : operator.blockHost(call.code, body, WHO);
  }),

  unblock: decide(async (call) => {
    const body = await readBody(call, BODIES["DELETE /api/v1/admin/hosts/{host}"], noteRequest);
    return isProblem(body) ? body : operator.unblockHost(call.code, body, WHO);
  }),
});

/** On the views thread. */
export const hostsView = (inspection: Inspection) => listView("hosts", inspection.hosts, ruleJson);
