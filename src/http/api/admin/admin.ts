import type { z } from "@hono/zod-openapi";

import { lookUpCode } from "../../../links/code.ts";
import type { Link } from "../../../links/link.ts";
import { isProblem } from "../../../links/problem.ts";
import type { LinkId } from "../../../links/store.ts";
import type { Operator, RefusedDecision } from "../../../moderation/operator.ts";
import type { Reports } from "../../../moderation/reports/reports.ts";
import type { Call, Handler } from "../../call.ts";
import { type HttpProblem, malformed, problemJson } from "../../problems.ts";
import { queryOf } from "../../url.ts";
import type { Views } from "../../views/views.ts";
import { success } from "../envelope.ts";
import { readFields, readJson } from "../json-body.ts";
import type { Managed } from "../manage.ts";
import { readPart } from "./query.ts";
import {
  caseRequest,
  countedReasonedRequest,
  countedRequest,
  noteRequest,
  reasonedRequest,
} from "./schemas.ts";
import { searchAll, searchLinks } from "./search.ts";
import type { AdminApiTask, AdminApiView } from "./views.ts";

export interface AdminApiOptions {
  readonly operator: Operator;
  readonly reports: Pick<Reports, "answerCase">;
  readonly views: Pick<Views, "ask">;
  /** The problem of a call that does not show the operator's token. */
  readonly refusalOf: (call: Call) => HttpProblem | undefined;
}

/** What a decision did, as it is told. */
interface Done {
  readonly code?: string;
  readonly host?: string;
  /** Of all links that a search finds. */
  readonly count?: number;
  readonly done?: boolean;
  readonly changed: boolean | number;
}

const WHO = "api";

/** The operator's API. Every handler asks for the token first. */
export function createAdminApi({ operator, reports, views, refusalOf }: AdminApiOptions) {
  /** Also keeps what is not there to be told from whoever has no token. */
  function guarded(handle: Handler): Handler {
    return (call) => {
      const refusal = refusalOf(call);
      return refusal === undefined ? handle(call) : problemJson(call, refusal);
    };
  }

  const show = (view: AdminApiView) => guarded((call) => askFor(views, call, { view }));

  function change(act: (call: Call) => Promise<HttpProblem | Done | Response>): Handler {
    return guarded(async (call) => {
      const outcome = await act(call);
      if (outcome instanceof Response) return outcome;
      if (isProblem(outcome)) return problemJson(call, outcome);
      const isDone = outcome.changed !== false && outcome.changed !== 0;
      return success(call, 200, isDone ? "operator.done" : "operator.same", outcome);
    });
  }

  const changeLink = (act: (call: Call, link: Link) => Promise<HttpProblem | Done>) =>
    change(async (call) => {
      const link = await operator.look(call.code);
      return isProblem(link) ? link : act(call, link);
    });

  /** Nothing is done before the operator was told how many links there are, and sends that number back. */
  async function changeFound(
    call: Call,
    told: number | null | undefined,
    decide: (links: readonly LinkId[]) => Promise<readonly LinkId[] | RefusedDecision>,
  ): Promise<HttpProblem | Done | Response> {
    const found = await searchAll(views, call);
    if (found instanceof Response || isProblem(found)) return found;
    const count = found.length;
    if (typeof told !== "number") return success(call, 200, "operator.asked", { count, done: false });
    if (told !== count) return { kind: "other-count", count };
    const changed = await decide(found);
    return isProblem(changed) ? changed : { count, done: true, changed: changed.length };
  }

  return {
    links: guarded(async (call) => {
      const part = readPart(call.request);
      if (isProblem(part)) return problemJson(call, part);
      const result = await searchLinks(views, call, part);
      return result instanceof Response ? result : askFor(views, call, { view: "links", result });
    }),
    link: show("link"),
    hosts: show("hosts"),
    cases: show("cases"),
    figures: show("figures"),
    journal: show("journal"),
    /** What the link's maker sees. */
    statistics: guarded(async (call) => {
      const link = await operator.look(call.code);
      if (isProblem(link)) return problemJson(call, link);
      const managed: Managed = { createdMs: link.createdMs };
      return views.ask("statistics", call, JSON.stringify(managed));
    }),

    disable: changeLink(async (call, link) => {
      const body = await readBody(call, reasonedRequest);
      if (isProblem(body)) return body;
      const changed = await operator.disable([link], body, WHO);
      return isProblem(changed) ? changed : { code: link.code, changed: changed.length > 0 };
    }),

    enable: changeLink(async (call, link) => {
      const body = await readBody(call, noteRequest);
      if (isProblem(body)) return body;
      const changed = await operator.enable([link], body, WHO);
      return isProblem(changed) ? changed : { code: link.code, changed: changed.length > 0 };
    }),

    erase: changeLink(async (call, link) => {
      const { code } = link;
      const confirm = new URLSearchParams(queryOf(call.request)).get("confirm") ?? "";
      if (lookUpCode(confirm) !== code)
        return malformed({ rule: "operator.confirm", field: "confirm", code });
      const body = await readBody(call, noteRequest);
      if (isProblem(body)) return body;
      const changed = await operator.erase(link, body, WHO);
      return isProblem(changed) ? changed : { code, changed };
    }),

    /** POST of links/disable and links/enable, which are for all links that a search finds. */
    found: change(async (call) => {
      if (call.code === "disable") {
        const body = await readBody(call, countedReasonedRequest);
        if (isProblem(body)) return body;
        return changeFound(call, body.count, (links) => operator.disable(links, body, WHO));
      }
      if (call.code === "enable") {
        const body = await readBody(call, countedRequest);
        if (isProblem(body)) return body;
        return changeFound(call, body.count, (links) => operator.enable(links, body, WHO));
      }
      return { kind: "method", method: call.request.method, allow: "GET, HEAD, DELETE, OPTIONS" };
    }),

    block: change(async (call) => {
      const body = await readBody(call, reasonedRequest);
      return isProblem(body) ? body : operator.blockHost(call.code, body, WHO);
    }),

    unblock: change(async (call) => {
      const body = await readBody(call, noteRequest);
      return isProblem(body) ? body : operator.unblockHost(call.code, body, WHO);
    }),

    answer: changeLink(async (call, link) => {
      const body = await readBody(call, caseRequest);
      if (isProblem(body)) return body;
      const answered = await reports.answerCase(link, { ...body, reason: body.reason ?? undefined }, WHO);
      if (!isProblem(answered)) return { code: link.code, changed: true };
      return answered.kind === "unknown" ? { kind: "operator.no-case" } : answered;
    }),
  };
}

export type AdminApi = ReturnType<typeof createAdminApi>;

function askFor(views: Pick<Views, "ask">, call: Call, task: AdminApiTask): Promise<Response> {
  return views.ask("adminApi", call, JSON.stringify(task));
}

/** No body is as good as an empty object: all fields of some requests are optional. */
async function readBody<T>({ request }: Call, schema: z.ZodType<T>): Promise<T | HttpProblem> {
  if (request.body === null) return readFields({}, schema);
  return readJson(request, schema, { reason: "phishing", note: "A fake bank." });
}
