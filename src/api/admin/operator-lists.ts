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
  respond,
} from "./operator-endpoint.ts";
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

export const answerCase = linkDecision(
  "POST /api/v1/admin/cases/{code}",
  caseRequest,
  ({ cases }, link) =>
    async (body, actor) => {
      const outcome =
        body.action === "reopen"
          ? await cases.reopenCase(link, body, actor)
          : await cases.answerCase(link, { ...body, reason: body.reason ?? undefined }, actor);
      return isProblem(outcome) && outcome.kind === "unknown" ? { kind: "operator.no-case" } : outcome;
    },
  { require: requireCase },
);

export const getHosts = listView(
  "GET /api/v1/admin/hosts",
  "hosts",
  (inspection, page) => inspection.hosts(page),
  ruleJson,
);

export const blockHost = decision(
  "PUT /api/v1/admin/hosts/{host}",
  reasonedRequest,
  ({ operator }, call) =>
    (body, actor) =>
      operator.blockHost(call.code, body, actor),
);

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
