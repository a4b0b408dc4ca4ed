// Declares the operator's endpoints. Decisions run on the serving thread; reads are views.

import type { Call, DetachedCall, Handler } from "../../http/call.ts";
import { endpoint, type Show, viewEndpoint } from "../../http/endpoint.ts";
import { type HttpProblem, problemJson } from "../../http/problems.ts";
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
import { type JsonObject, readFields, readJson } from "../json-body.ts";
import { readListPage } from "../list-page.ts";
import { z } from "../openapi/schema.ts";

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

/** The outcome of a decision, in its response. */
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
export function asOperator({ refusalOf }: OperatorApiParts, handle: Handler): Handler {
  return (call) => {
    const refusal = refusalOf(call);
    return refusal === undefined ? handle(call) : problemJson(call, refusal);
  };
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

type Bodies = typeof BODIES;
/** The addresses whose bodies have the fields of a schema. */
type AddressOf<Schema extends z.ZodObject> = {
  [At in keyof Bodies]: Bodies[At] extends Body<keyof Schema["shape"]> ? At : never;
}[keyof Bodies];

/** Decides once the body has arrived. */
type Act<Schema extends z.ZodObject, Result = Outcome | Response> = (
  body: z.infer<Schema>,
  actor: Actor,
) => Promise<HttpProblem | Result>;

/** Declares an endpoint that decides something. An `example` is for a body that must not be missing. */
export function decision<Schema extends z.ZodObject, const Address extends AddressOf<Schema>>(
  at: Address,
  schema: Schema,
  prepare: (parts: OperatorApiParts, call: Call) => Act<Schema> | Promise<Act<Schema> | HttpProblem>,
  example?: JsonObject,
) {
  const known: AnyBody = BODIES[at];
  const bounds = known as Body<keyof Schema["shape"]>;
  async function decide(parts: OperatorApiParts, call: Call) {
    const act = await prepare(parts, call);
    if (isProblem(act)) return act;
    // Some requests have only optional fields.
    const isMissing = call.request.body === null && example === undefined;
    const body = isMissing
      ? readFields({}, bounds, schema)
      : await readJson(call.request, bounds, schema, example ?? { reason: "phishing", note: "A fake bank." });
    // Access may have ended while the body arrived.
    const refusal = parts.refusalOf(call);
    if (refusal !== undefined) return refusal;
    return isProblem(body) ? (body as HttpProblem) : act(body, { who: "api", by: call.by });
  }
  return endpoint({
    at,
    cost: "little",
    changesLinks: true,
    serve: (parts: OperatorApiParts) =>
      asOperator(parts, async (call) => {
        const outcome = await decide(parts, call);
        if (outcome instanceof Response) return outcome;
        if (isProblem(outcome)) return problemJson(call, outcome);
        const { changed, entry, ...more } = outcome;
        const isOne = more.code !== undefined || more.host !== undefined;
        const data = { ...more, changed: isOne ? changed > 0 : changed, id: entry ?? null };
        return success(call, 200, changed > 0 ? "operator.done" : "operator.same", data);
      }),
  });
}

/** Declares a decision about a link, which must be as the operator has seen it (RFC 6585, section 3). */
export function linkDecision<Schema extends z.ZodObject, const Address extends AddressOf<Schema>>(
  at: Address,
  schema: Schema,
  prepare: (
    parts: OperatorApiParts,
    link: ReadLink | GoneLink,
    call: Call,
  ) => Act<Schema, Decided> | HttpProblem,
  {
    require = (_spelling, found, versions) => (isProblem(found) ? found : requireSeen(found, versions)),
    example,
  }: { readonly require?: typeof requireCase; readonly example?: JsonObject } = {},
) {
  const prepareLink = async (parts: OperatorApiParts, call: Call) => {
    const found = await parts.operator.find(call.code);
    const link = require(call.code, found, requiredTags(call.headers), call.domain.codeCase);
    if (isProblem(link) && link.kind === "unknown") return link;
    if (header(call.headers, "if-match", "") === null) return { kind: "precondition.required" } as const;
    if (isProblem(link)) return link;
    const act = prepare(parts, link, call);
    if (isProblem(act)) return act;
    return async (body: z.infer<Schema>, actor: Actor) => {
      const outcome = await act(body, actor);
      return isProblem(outcome) ? outcome : { code: link.code, ...outcome };
    };
  };
  return decision(at, schema, prepareLink, example);
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
  read: (inspection: Inspection, page: ListPage) => Promise<ListItems<T>>,
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
