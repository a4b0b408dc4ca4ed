// Declares the operator's endpoints. Decisions run on the serving thread; reads are views.

import type { Call, DetachedCall, Handler } from "../../http/call.ts";
import { endpoint, type Show, viewEndpoint } from "../../http/endpoint.ts";
import { type HttpProblem, type Malformed, malformed, problemJson } from "../../http/problems.ts";
import { requiredTags } from "../../http/responses.ts";
import { type AnyBody, type Body, BODIES, header } from "../../lib/bounds.ts";
import type { Actor, Decided } from "../../links/link-store.ts";
import { isProblem, REASONS } from "../../links/problem.ts";
import type { Inspection, ListItems, ListPage } from "../../moderation/inspection.ts";
import {
  type GoneLink,
  type Operator,
  type ReadLink,
  type requireCase,
  requireSeen,
} from "../../moderation/operator.ts";
import type { Cases } from "../../moderation/reports.ts";
import type { Views } from "../../views/views.ts";
import { success } from "../envelope.ts";
import { readFields, readJson } from "../json-body.ts";
import { z } from "../schema.ts";

export interface OperatorApiParts {
  readonly operator: Operator;
  readonly cases: Pick<Cases, "answerCase" | "reopenCase">;
  readonly views: Pick<Views, "show" | "read">;
  /** The problem of a call without the operator's token. */
  readonly refusalOf: (call: Call) => HttpProblem | undefined;
}

export interface OperatorViewParts {
  /** Has the links of all domains. */
  readonly inspection: Inspection;
}

/** What a decision did, in its response. */
interface Outcome extends Decided {
  readonly code?: string;
  readonly host?: string;
  /** How many links a search finds. */
  readonly count?: number;
  readonly done?: boolean;
  readonly skipped?: number;
}

export const note = z
  .string()
  .nullish()
  .transform((text) => text ?? undefined);
export const reason = z.enum(REASONS);
export const noteRequest = z.object({ note });
export const reasonedRequest = z.object({ reason, note });

/** Without the token, nobody learns whether something exists. */
function asOperator({ refusalOf }: OperatorApiParts, handle: Handler): Handler {
  return (call) => {
    const refusal = refusalOf(call);
    return refusal === undefined ? handle(call) : problemJson(call, refusal);
  };
}

/** Declares an endpoint that only reads, and has no view of its own. */
export function operatorEndpoint<const Address extends string>(
  at: Address,
  serve: (parts: OperatorApiParts) => Handler,
) {
  return endpoint({
    at,
    cost: "little",
    serve: (parts: OperatorApiParts) => asOperator(parts, serve(parts)),
  });
}

/** Declares an endpoint that answers with a view. */
export function operatorView<const Address extends string, Data = undefined>(
  at: Address,
  render: (inspection: Inspection) => (call: DetachedCall, data: Data) => Promise<Response>,
  serve: (parts: OperatorApiParts, show: Show<Data>) => Handler = (_parts, show) => (call) =>
    (show as Show)(call),
) {
  return viewEndpoint({
    at,
    cost: "little",
    view: { isForOperator: true, render: ({ inspection }: OperatorViewParts) => render(inspection) },
    serve: (parts: OperatorApiParts, show: Show<Data>) => asOperator(parts, serve(parts, show)),
  });
}

/** Declares an endpoint that decides something. */
export function decision<const Address extends string>(
  at: Address,
  decide: (parts: OperatorApiParts) => (call: Call) => Promise<HttpProblem | Outcome | Response>,
) {
  return endpoint({
    at,
    cost: "little",
    changesLinks: true,
    serve: (parts: OperatorApiParts) => {
      const act = decide(parts);
      return asOperator(parts, async (call) => {
        const outcome = await act(call);
        if (outcome instanceof Response) return outcome;
        if (isProblem(outcome)) return problemJson(call, outcome);
        const isDone = outcome.changed !== false && outcome.changed !== 0;
        return success(call, 200, isDone ? "operator.done" : "operator.same", outcome);
      });
    },
  });
}

/** Declares a decision about a link, which must be as the operator has seen it (RFC 6585, section 3). */
export function linkDecision<const Address extends string>(
  at: Address,
  decide: (parts: OperatorApiParts, call: Call, link: ReadLink) => Promise<HttpProblem | Outcome>,
) {
  return decision(at, (parts) => async (call) => {
    const current = await parts.operator.find(call.code);
    if (isProblem(current)) return current;
    if (header(call.headers, "if-match", "") === null) return { kind: "precondition.required" };
    const link = requireSeen(current, requiredTags(call.headers));
    return isProblem(link) ? link : decide(parts, call, link);
  });
}

/** Reads a missing body as an empty object, because some requests have only optional fields. */
export async function readBody<Schema extends z.ZodObject>(
  { refusalOf }: OperatorApiParts,
  call: Call,
  bounds: Body<keyof Schema["shape"]>,
  schema: Schema,
): Promise<z.infer<Schema> | HttpProblem> {
  if (call.request.body === null) return readFields({}, bounds, schema);
  const body = await readJson(call.request, bounds, schema, { reason: "phishing", note: "A fake bank." });
  // Access may have ended while the body arrived.
  return refusalOf(call) ?? body;
}

export const LIMIT = { min: 1, max: 200 };
const DEFAULT_LIMIT = 50;

/** Reads which page of a list is requested. */
export function readListPage(request: Request): ListPage | Malformed {
  const query = parametersOf(request);
  const cursor = query.get("cursor") || undefined;
  const written = query.get("limit") || String(DEFAULT_LIMIT);
  const limit = /^\d{1,9}$/.test(written) ? Number(written) : Number.NaN;
  return limit >= LIMIT.min && limit <= LIMIT.max
    ? { cursor, limit }
    : malformed({ rule: "query.range", field: "limit", ...LIMIT });
}

export function respond(
  call: DetachedCall,
  data: unknown,
  headers?: Readonly<Record<string, string>>,
): Response {
  return success(call, 200, "operator.found", data, headers);
}

/** Declares an endpoint that responds with a page of a list. */
export function listView<const Address extends string, T>(
  at: Address,
  name: string,
  read: (
    inspection: Inspection,
    page: ListPage,
  ) => Promise<{ items: readonly T[]; cursor: string | undefined }>,
  describe: (item: T, nowMs: number) => unknown,
) {
  return operatorView(at, (inspection) => async (call) => {
    const page = readListPage(call.request);
    if (isProblem(page)) return problemJson(call, page);
    const { items, cursor } = await read(inspection, page);
    const nowMs = inspection.nowMs();
    return respond(call, { [name]: items.map((item) => describe(item, nowMs)), cursor: cursor ?? null });
  });
}
