// Shared by the operator's endpoints. Decisions run on the serving thread; reads are views.
import { z } from "@hono/zod-openapi";

import type { DetachedCall, Call, Handler } from "../../http/call.ts";
import { type HttpProblem, type Malformed, malformed, problemJson } from "../../http/problems.ts";
import { requiredTags } from "../../http/responses.ts";
import { parametersOf } from "../../http/url.ts";
import type { Views } from "../../http/views.ts";
import { type Body, header } from "../../lib/bounds.ts";
import { isProblem } from "../../links/problem.ts";
import { REASONS } from "../../links/reasons.ts";
import type { LinkId } from "../../links/store.ts";
import type { ListPage } from "../../moderation/inspection.ts";
import { type Operator, type ReadLink, requireSeen } from "../../moderation/operator.ts";
import type { Cases } from "../../moderation/reports/reports.ts";
import { success } from "../envelope.ts";
import { readFields, readJson } from "../json-body.ts";

export interface AdminApiOptions {
  readonly operator: Operator;
  readonly cases: Pick<Cases, "answerCase" | "reopenCase">;
  readonly views: Pick<Views, "ask">;
  /** The problem of a call without the operator's token. */
  readonly refusalOf: (call: Call) => HttpProblem | undefined;
}

export type AdminApiView = "links" | "link" | "hosts" | "cases" | "figures" | "journal" | "search";

/** Sent by the serving thread with the request. The caller has shown the operator's token. */
export interface AdminApiTask {
  readonly view: AdminApiView;
  /** Only for a slice of a search. */
  readonly part?: ListPage;
  /** The links to show. */
  readonly result?: SearchResult;
}

export type AdminApiViews<View extends AdminApiView> = Record<
  View,
  (call: DetachedCall, task: AdminApiTask) => Promise<Response>
>;

/** The result of a decision. */
export interface Outcome {
  readonly code?: string;
  readonly host?: string;
  /** Of all links that a search finds. */
  readonly count?: number;
  readonly done?: boolean;
  readonly changed: boolean | number;
}

/** The decisions of this API in the operator's journal. */
export const WHO = "api";

export const note = z
  .string()
  .nullish()
  .transform((text) => text ?? undefined);
export const reason = z.enum(REASONS);
export const noteRequest = z.object({ note });
export const reasonedRequest = z.object({ reason, note });

/** Returns what the handlers on the serving thread are made of. */
export function createEndpoints({ operator, views, refusalOf }: AdminApiOptions) {
  /** Without the token, nobody learns whether something exists. */
  function guarded(handle: Handler): Handler {
    return (call) => {
      const refusal = refusalOf(call);
      return refusal === undefined ? handle(call) : problemJson(call, refusal);
    };
  }

  function ask(call: Call, task: AdminApiTask): Promise<Response> {
    return views.ask("adminApi", call, JSON.stringify(task));
  }

  const decide = (act: (call: Call) => Promise<HttpProblem | Outcome | Response>): Handler =>
    guarded(async (call) => {
      const outcome = await act(call);
      if (outcome instanceof Response) return outcome;
      if (isProblem(outcome)) return problemJson(call, outcome);
      const isDone = outcome.changed !== false && outcome.changed !== 0;
      return success(call, 200, isDone ? "operator.done" : "operator.same", outcome);
    });

  return {
    guarded,
    ask,
    decide,
    show: (view: AdminApiView) => guarded((call) => ask(call, { view })),
    /** Decides about a link as the operator has seen it (RFC 6585, section 3). */
    decideLink: (act: (call: Call, link: ReadLink) => Promise<HttpProblem | Outcome>) =>
      decide(async (call) => {
        const found = await operator.find(call.code);
        if (isProblem(found)) return found;
        if (header(call.headers, "if-match", "") === null) return { kind: "precondition.required" };
        const link = requireSeen(found, requiredTags(call.headers));
        return isProblem(link) ? link : act(call, link);
      }),
  };
}

export type Endpoints = ReturnType<typeof createEndpoints>;

/** A missing body is as good as an empty object: all fields of some requests are optional. */
export async function readBody<Schema extends z.ZodObject>(
  { request }: Call,
  bounds: Body<keyof Schema["shape"]>,
  schema: Schema,
): Promise<z.infer<Schema> | HttpProblem> {
  if (request.body === null) return readFields({}, bounds, schema);
  return readJson(request, bounds, schema, { reason: "phishing", note: "A fake bank." });
}

export const LIMIT = { min: 1, max: 200 };
const DEFAULT_LIMIT = 50;

/** The page of a list that a query asks for. */
export function readPart(request: Request): ListPage | Malformed {
  const query = parametersOf(request);
  const cursor = query.get("cursor") || undefined;
  const written = query.get("limit") || String(DEFAULT_LIMIT);
  const limit = /^\d{1,9}$/.test(written) ? Number(written) : Number.NaN;
  return limit >= LIMIT.min && limit <= LIMIT.max
    ? { cursor, limit }
    : malformed({ rule: "query.range", field: "limit", ...LIMIT });
}

export function show(
  call: DetachedCall,
  data: unknown,
  headers?: Readonly<Record<string, string>>,
): Response {
  return success(call, 200, "operator.found", data, headers);
}

export const listView =
  <T>(
    name: string,
    read: (part: ListPage) => Promise<{ items: readonly T[]; cursor: string | undefined }>,
    describe: (item: T) => unknown,
  ) =>
  async (call: DetachedCall): Promise<Response> => {
    const part = readPart(call.request);
    if (isProblem(part)) return problemJson(call, part);
    const { items, cursor } = await read(part);
    return show(call, { [name]: items.map(describe), cursor: cursor ?? null });
  };

/** The links found so far. They are looked up again when they are shown. */
export interface SearchResult {
  /** The host is that of the target; "" for a deleted link. */
  readonly links: readonly (LinkId & { readonly host: string })[];
  readonly cursor?: string | undefined;
  readonly searched: number;
}
