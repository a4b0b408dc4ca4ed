import { isProblem } from "../../links/problem.ts";
import { ANSWERS } from "../../moderation/case.ts";
import { entryOf } from "../../moderation/inspection.ts";
import { requireCase } from "../../moderation/operator.ts";
import { z } from "../openapi/schema.ts";
import {
  decision,
  linkDecision,
  listView,
  note,
  noteRequest,
  operatorView,
  reason,
  reasonedRequest,
  actorOf,
} from "./endpoint.ts";
import { caseJson, entryJson, figuresJson, ruleJson } from "./operator-json.ts";

export const getFigures = operatorView(
  "GET /api/v1/admin/figures",
  (inspection) => async (call) => respond(call, figuresJson(await inspection.figures())),
);

export const getJournal = listView(
  "GET /api/v1/admin/journal",
  "entries",
  (inspection, page) => inspection.decisions(page),
  entryJson,
);

export const getCases = listView(
  "GET /api/v1/admin/cases",
  "cases",
  (inspection, page) => inspection.cases(page),
  caseJson,
);

/** "nothing" needs no reason. */
const caseRequest = z.object({ action: z.enum([...ANSWERS, "reopen"]), reason: reason.nullish(), note });

export const answerCase = linkDecision("POST /api/v1/admin/cases/{code}", async (parts, call, link) => {
  const body = await readBody(parts, call, BODIES["POST /api/v1/admin/cases/{code}"], caseRequest);
  if (isProblem(body)) return body;
  const outcome =
    body.action === "reopen"
      ? await parts.cases.reopenCase(link, {}, body, actorOf(call))
      : await parts.cases.answerCase(link, { ...body, reason: body.reason ?? undefined }, actorOf(call));
  if (outcome === undefined || !isProblem(outcome)) return { code: link.code, changed: true };
  return outcome.kind === "unknown" ? { kind: "operator.no-case" } : outcome;
});

export const getHosts = listView(
  "GET /api/v1/admin/hosts",
  "hosts",
  (inspection, page) => inspection.hosts(page),
  ruleJson,
);

export const blockHost = decision("PUT /api/v1/admin/hosts/{host}", (parts) => async (call) => {
  const body = await readBody(parts, call, BODIES["PUT /api/v1/admin/hosts/{host}"], reasonedRequest);
  return isProblem(body) ? body : parts.operator.blockHost(call.code, body, actorOf(call));
});

export const unblockHost = decision(
  "DELETE /api/v1/admin/hosts/{host}",
  noteRequest,
  ({ operator }, call) =>
    (body, actor) =>
      operator.unblockHost(call.code, body, actor),
);

export const undoDecision = decision(
  "POST /api/v1/admin/decisions/{id}/undo",
  noteRequest,
  ({ operator }, call) =>
    (body, actor) =>
      operator.undo(entryOf(call.code), body, actor),
);
