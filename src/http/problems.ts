import { header } from "../lib/bounds.ts";
import type { OtherRevision } from "../links/change.ts";
import type { EditsClosed } from "../links/edit.ts";
import { StoreUnavailable } from "../links/link-store.ts";
import type { EndedBy, Problem } from "../links/problem.ts";
import { message, negotiateLanguage, type Values } from "../locales/messages.ts";
import { whenIn } from "../locales/relative-time.ts";
import type { NotUndone } from "../moderation/moderation-store.ts";
import type { RateLimitName } from "../moderation/rate-limits.ts";
import type { RefusedDecision } from "../moderation/refusal.ts";
import type { DetachedCall } from "./call.ts";
import { type FieldNames, LINK_FIELDS, SHORTEN_FIELDS } from "./field-names.ts";
import {
  describeOperatorRefusal,
  describeRefusal,
  describeRequestRefusal,
  describeState,
  type Message,
  nameFirst,
  type RequestRefusal,
  say,
} from "./problem-messages.ts";
import { type ProblemReason, REASON_HEADER } from "./problem-reasons.ts";
import { json } from "./responses.ts";
import { pathOf } from "./url.ts";

/** Problems at addresses that people open. A wrong method has no page, because browsers don't cause it. */
export type AddressProblem = PageProblem | { kind: "method"; method: string; allow: string };

export interface Malformed {
  readonly kind: "malformed";
  readonly refusals: readonly RequestRefusal[];
}

export function malformed(...refusals: readonly RequestRefusal[]): Malformed {
  return { kind: "malformed", refusals };
}

/** The client exceeded a limit, and has to wait. */
export type Limited = Extract<PageProblem, { kind: "limited" }>;

export type HttpProblem =
  | AddressProblem
  | Malformed
  | { kind: "body.too-large"; max: number }
  | { kind: "body.type" | "body.form" | "body.coding" }
  | { kind: "cross-site" }
  | { kind: "idempotency.format" | "idempotency.reused" }
  | RefusedDecision
  | { kind: "too-many"; max: number }
  | { kind: "other-count"; count: number }
  | NotUndone
  | { kind: "operator.missing" | "operator.wrong" | "operator.no-case" }
  | { kind: "password.missing" | "password.wrong"; /** For a challenge (RFC 7617). */ shortUrl?: string }
  | { kind: "link.prefetch" }
  | { kind: "key.missing" | "key.wrong" | "owner.other" }
  | EditsClosed
  | OtherRevision
  | { kind: "precondition.required" }
  | { kind: "token.missing" | "token.wrong" | "user.missing" | "user.wrong" };

export const RETRY_SOON = { "Retry-After": "2" };

interface Description {
  readonly status: number;
  readonly messages: readonly Message[];
  /** Including the reasons for programs. */
  readonly headers: Readonly<Record<string, string>>;
}

type PartialDescription = Pick<Description, "status" | "messages"> & Partial<Pick<Description, "headers">>;

/**
 * Maps every problem to an HTTP status (RFC 9110, section 15), messages, and reasons for programs. No other code chooses
 * these.
 */
export function describe(problem: HttpProblem, fields: FieldNames = SHORTEN_FIELDS): Description {
  const { status, messages, headers } = describeKind(problem, fields);
  const reasons = new Set(messages.map(({ reason }) => reason));
  return { status, messages, headers: { [REASON_HEADER]: [...reasons].join(", "), ...headers } };
}

function describeKind(problem: HttpProblem, fields: FieldNames): PartialDescription {
  switch (problem.kind) {
    case "invalid":
      return { status: 400, messages: problem.refusals.map((one) => describeRefusal(one, fields)) };
    case "refused":
      return { status: 400, messages: problem.refusals.map(describeOperatorRefusal) };
    case "too-many":
      return { status: 409, messages: [say("operator.too-many", { max: problem.max })] };
    case "other-count":
      return { status: 409, messages: [say("operator.count", { count: problem.count }, "count")] };
    case "decision.unknown":
      return { status: 404, messages: [say(problem.kind)] };
    case "decision.undone":
    case "decision.superseded":
    case "decision.final": {
      const { kind, ...state } = problem;
      return { status: 409, messages: [say(kind), ...describeState(kind, state)] };
    }
    case "malformed":
      return { status: 400, messages: problem.refusals.map(describeRequestRefusal) };
    case "taken":
      return {
        status: 409,
        messages: [
          {
            key: "taken",
            reason: "code.taken",
            field: fields.code ?? "code",
            isFixed: fields === SHORTEN_FIELDS,
          },
        ],
      };
    case "unknown": {
      const { meant } = problem;
      const key = meant === undefined ? "unknown" : "unknown.meant";
      return { status: 404, messages: [{ key, reason: "link.unknown", values: { code: meant ?? "" } }] };
    }
    case "not-found":
      return { status: 404, messages: [{ key: "not-found", reason: "route.unknown" }] };
    case "expired": {
      const ended = new Date(problem.endedMs).toISOString();
      if (problem.by === undefined)
        return { status: 410, messages: [{ key: "expired", reason: "link.expired", values: { ended } }] };
      const reason = ENDED_BY[problem.by];
      return { status: 410, messages: [{ key: `expired.${problem.by}`, reason, values: { ended } }] };
    }
    case "disabled":
      return { status: 410, messages: [{ key: `disabled.${problem.reason}`, reason: "link.disabled" }] };
    case "method": {
      const { method, allow } = problem;
      return { status: 405, messages: [say("method", { method, allow })], headers: { Allow: allow } };
    }
    case "body.too-large":
      return { status: 413, messages: [say(problem.kind, { max: problem.max })] };
    case "body.coding":
      // Names the accepted codings (RFC 9110, section 12.5.3).
      return { status: 415, messages: [say(problem.kind)], headers: { "Accept-Encoding": "identity" } };
    case "limited": {
      const { seconds, limit } = problem;
      const values: Values = { when: (language) => whenIn(language, seconds) };
      return {
        status: 429,
        messages: [{ key: "limited", reason: `limit.${limit}`, values }],
        headers: { "Retry-After": String(seconds) },
      };
    }
    case "password.missing":
    case "password.wrong":
      if (problem.shortUrl === undefined) return { status: 403, messages: [say(problem.kind)] };
      return {
        status: 401,
        messages: [say(problem.kind)],
        // RFC 7617. Each link has its own password, so it is a realm.
        headers: { "WWW-Authenticate": `Basic realm="${new URL(problem.shortUrl).href}", charset="UTF-8"` },
      };
    case "link.prefetch":
      return { status: 503, messages: [say(problem.kind)], headers: { "Retry-After": "0" } };
    case "key.missing":
    case "operator.missing":
    case "operator.wrong":
      return { status: 401, messages: [say(problem.kind)], headers: { "WWW-Authenticate": "Bearer" } };
    case "token.missing":
    case "token.wrong":
      return {
        status: 401,
        messages: [{ key: "token", reason: problem.kind }],
        headers: { "WWW-Authenticate": "Bearer" },
      };
    case "unavailable":
      return {
        status: 503,
        messages: [{ key: "unavailable", reason: "store.unavailable" }],
        headers: RETRY_SOON,
      };
    case "overloaded":
      return { status: 503, messages: [say(problem.kind)], headers: RETRY_SOON };
    case "idempotency.format":
      return { status: 400, messages: [say(problem.kind)] };
    case "cross-site":
    case "edits.closed":
    case "key.wrong":
    case "owner.other":
    case "user.missing":
    case "user.wrong":
      return { status: 403, messages: [say(problem.kind)] };
    case "precondition.failed":
      return { status: 412, messages: [say(problem.kind)], headers: { ETag: `"${problem.revision}"` } };
    case "precondition.required":
      return { status: 428, messages: [say(problem.kind)] };
    case "operator.no-case":
      return { status: 404, messages: [say(problem.kind)] };
    case "body.form":
    case "body.type":
      return { status: 415, messages: [say(problem.kind)] };
    case "idempotency.reused":
      return { status: 422, messages: [say(problem.kind)] };
    case "internal":
      return { status: 500, messages: [say(problem.kind)] };
  }
}

const ENDED_BY = { visits: "link.used-up", withdrawn: "link.withdrawn" } as const satisfies Record<
  EndedBy,
  ProblemReason
>;

/** The problem for a thrown error. */
export function asProblem(error: unknown): PageProblem {
  return error instanceof StoreUnavailable ? { kind: "unavailable" } : { kind: "internal" };
}

/** The API's error envelope, in the caller's language. */
export function problemJson(
  call: DetachedCall,
  problem: HttpProblem,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const language = negotiateLanguage(header(call.headers, "accept-language"));
  const hasErrors = listsErrors(pathOf(call.request));
  const names = hasErrors ? LINK_FIELDS : SHORTEN_FIELDS;
  const { status, text, errors, headers: ofProblem } = renderProblem(problem, language, names);
  const body = { status: "error", message: text, ...(hasErrors && { errors }) };
  return json(call, status, body, language, { ...ofProblem, ...headers });
}

/** Whether problems at this path have `errors`. The contract fixes those of its endpoints, `/api/v1/shorten` and `/{code}`. */
export function listsErrors(path: string): boolean {
  return path.startsWith("/api/") && !/^\/api\/v1\/shorten\/?$/.test(path);
}

/** The status, text, `errors` and headers of a response about a problem. */
export function renderProblem(problem: HttpProblem, language: string, fields: FieldNames) {
  const { status, messages, headers } = describe(problem, fields);
  const said = messages.map((one) => ({ one, text: message(language, one.key, one.values) }));
  return {
    status,
    text: said.map(({ one, text }) => nameFirst(one, text)).join(" "),
    errors: said.map(({ one: { field = null, reason }, text }) => ({ field, reason, message: text })),
    headers,
  };
}

/** The problems that have a page. */
export type PageProblem =
  | Problem
  /** `meant`: the code of a link that the reader may have meant. */
  | { kind: "not-found"; meant?: string | undefined }
  | {
      kind: "limited";
      limit: RateLimitName | "token";
      /** Until it is worth trying again. */ seconds: number;
    }
  | { kind: "unavailable" | "overloaded" }
  | { kind: "internal" };
