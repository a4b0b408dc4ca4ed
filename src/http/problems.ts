import type { TooMany } from "../guard/collect.ts";
import type { RefusedSearch, SearchRefusal } from "../guard/link-query.ts";
import type { DecisionRefusal, RefusedDecision } from "../guard/operator.ts";
import { type MessageKey, message, negotiateLanguage, type Values } from "../language/messages.ts";
import type { Refusal } from "../links/problem.ts";
import { StoreUnavailable } from "../links/store.ts";
import { type PageProblem, problemPage } from "../pages/problem.tsx";
import { whenIn } from "../pages/when.ts";
import type { RangeRefusal } from "../visits/statistics.ts";
import { html, json, prefersHtml } from "./answers.ts";
import type { Asked } from "./call.ts";
import { pathOf } from "./url.ts";

/** Why a body or a query is refused before the domain sees it. `rule` is also the key of the message. */
export type RequestRefusal =
  | { rule: "field.required"; field: string }
  | { rule: "field.type"; field: string; expected: string; received: string }
  | { rule: "field.values"; field: string; values: string }
  | { rule: "query.date"; field: string; example: string }
  | { rule: "query.zone"; field: string; received: string }
  | { rule: "query.range"; field: string; min: number; max: number }
  | { rule: "query.colour"; field: string; example: string }
  | { rule: "qr.contrast"; min: number }
  | { rule: "operator.confirm"; field: string; code: string }
  | RangeRefusal
  | { rule: "body.encoding" | "body.json" | "body.interrupted" }
  | { rule: "body.object"; example: string; received: string };

/** What can go wrong at an address that people open. A wrong method has no page: only programs make that mistake. */
export type AddressProblem = PageProblem | { kind: "method"; method: string; allow: string };

export interface Malformed {
  readonly kind: "malformed";
  readonly refusals: readonly RequestRefusal[];
}

export function malformed(refusal: RequestRefusal): Malformed {
  return { kind: "malformed", refusals: [refusal] };
}

/** The client has done too much of something, and has to wait. */
export type Limited = Extract<PageProblem, { kind: "limited" }>;

export type HttpProblem =
  | AddressProblem
  | Malformed
  | { kind: "body.too-large"; max: number }
  | { kind: "body.type" | "body.form" | "body.coding" }
  | { kind: "cross-site" }
  | RefusedDecision
  | RefusedSearch
  | TooMany
  | { kind: "other-count"; count: number }
  | { kind: "operator.missing" | "operator.wrong" | "operator.no-case" }
  | { kind: "token" };

const RETRY_AFTER_SECONDS = 2;

interface Message {
  readonly key: MessageKey;
  readonly values?: Values;
  /** The parameter that the message is about, if any. */
  readonly field?: string | undefined;
  /** True if the text does not name the field. Then the API puts the name in front of it. */
  readonly isPrefixed?: true;
}

interface Description {
  readonly status: number;
  readonly messages: readonly Message[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** Maps every problem to an HTTP status (RFC 9110, section 15). No other code chooses the status of a problem. */
export function describe(problem: HttpProblem): Description {
  switch (problem.kind) {
    case "invalid":
      return { status: 400, messages: problem.refusals.map(describeRefusal) };
    case "refused":
      return { status: 400, messages: problem.refusals.map(describeOperatorRefusal) };
    case "too-many":
      return { status: 409, messages: [{ key: "operator.too-many", values: { max: problem.max } }] };
    case "other-count":
      return { status: 409, messages: [{ key: "operator.count", values: { count: problem.count } }] };
    case "operator.no-case":
      return { status: 404, messages: [{ key: problem.kind }] };
    case "operator.missing":
    case "operator.wrong":
      return { status: 401, messages: [{ key: problem.kind }], headers: { "WWW-Authenticate": "Bearer" } };
    case "malformed":
      return { status: 400, messages: problem.refusals.map(describeRequestRefusal) };
    case "taken":
      return { status: 409, messages: [{ key: "taken", field: "custom_code" }] };
    case "unknown":
      return { status: 404, messages: [{ key: "unknown" }] };
    case "not-found":
      return { status: 404, messages: [{ key: "not-found" }] };
    case "expired":
      return {
        status: 410,
        messages: [{ key: "expired", values: { ended: new Date(problem.endedMs).toISOString() } }],
      };
    case "disabled":
      return { status: 410, messages: [{ key: `disabled.${problem.reason}` }] };
    case "method": {
      const { method, allow } = problem;
      return {
        status: 405,
        messages: [{ key: "method", values: { method, allow } }],
        headers: { Allow: allow },
      };
    }
    case "body.too-large":
      return { status: 413, messages: [{ key: problem.kind, values: { max: problem.max } }] };
    case "body.type":
    case "body.form":
      return { status: 415, messages: [{ key: problem.kind }] };
    case "body.coding":
      // Says which codings would be accepted (RFC 9110, section 12.5.3).
      return { status: 415, messages: [{ key: problem.kind }], headers: { "Accept-Encoding": "identity" } };
    case "cross-site":
      return { status: 403, messages: [{ key: problem.kind }] };
    case "limited": {
      const { seconds } = problem;
      return {
        status: 429,
        messages: [{ key: "limited", values: { when: (language) => whenIn(language, seconds) } }],
        headers: { "Retry-After": String(seconds) },
      };
    }
    case "token":
      return {
        status: 401,
        messages: [{ key: "token", field: "token" }],
        headers: { "WWW-Authenticate": "Bearer" },
      };
    case "unavailable":
      return {
        status: 503,
        messages: [{ key: "unavailable" }],
        headers: { "Retry-After": String(RETRY_AFTER_SECONDS) },
      };
    case "internal":
      return { status: 500, messages: [{ key: "internal" }] };
  }
}

function describeRefusal({ rule, ...values }: Refusal): Message {
  return { key: rule, values, field: REFUSED_FIELD[rule], isPrefixed: true };
}

function describeRequestRefusal({ rule, ...values }: RequestRefusal): Message {
  return { key: rule, values, field: "field" in values ? values.field : undefined };
}

/** The first part of the rule is the parameter that it applies to. */
function describeOperatorRefusal({ rule, ...values }: DecisionRefusal | SearchRefusal): Message {
  return { key: rule, values, field: rule.split(".", 1)[0], isPrefixed: true };
}

/** The parameter that each rule of the domain applies to. */
const REFUSED_FIELD: Readonly<Record<Refusal["rule"], string>> = {
  "code.too-long": "custom_code",
  "code.ill-formed": "custom_code",
  "code.character": "custom_code",
  "code.space": "custom_code",
  "code.invisible": "custom_code",
  "code.joiner": "custom_code",
  "code.mark": "custom_code",
  "code.reserved": "custom_code",
  "target.ill-formed": "original_url",
  "target.control": "original_url",
  "target.space": "original_url",
  "target.backslash": "original_url",
  "target.scheme": "original_url",
  "target.unparsable": "original_url",
  "target.credentials": "original_url",
  "target.too-long": "original_url",
  "target.own": "original_url",
  "target.private": "original_url",
  "target.chain": "original_url",
  "target.blocked": "original_url",
  "expires.format": "expires",
  "expires.past": "expires",
  "expires.before-start": "expires",
  "starts.format": "starts",
  "max_visits.range": "max_visits",
  "password.length": "password",
};

/** The problem to answer with when an error was thrown. */
export function problemOf(error: unknown): PageProblem {
  return error instanceof StoreUnavailable ? { kind: "unavailable" } : { kind: "internal" };
}

/** The API's error envelope, in the caller's language. */
export function problemJson(
  call: Asked,
  problem: HttpProblem,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const language = negotiateLanguage(call.headers.get("accept-language"));
  const { status, messages, headers: ofProblem } = describe(problem);
  const text = messages
    .map(
      ({ field, isPrefixed, key, values }) =>
        (isPrefixed === true ? `${field}: ` : "") + message(language, key, values),
    )
    .join(" ");
  return json(call, status, { status: "error", message: text }, language, { ...ofProblem, ...headers });
}

/** For addresses that people open: browsers get a page, programs get JSON. */
export function problemAnswer(call: Asked, problem: AddressProblem): Response {
  if (problem.kind !== "method" && prefersHtml(call.headers.get("accept"))) return problemHtml(call, problem);
  return problemJson(call, problem, { Vary: "Accept, Accept-Language" });
}

/** For any address: the API's has no pages. */
export function answerProblem(call: Asked, problem: AddressProblem): Response {
  return pathOf(call.request).startsWith("/api/") ? problemJson(call, problem) : problemAnswer(call, problem);
}

function problemHtml(call: Asked, problem: PageProblem): Response {
  const { status, headers } = describe(problem);
  return html(call, status, (language) => problemPage(language, problem, call.domain.contact), {
    ...headers,
    Vary: "Accept, Accept-Language, Cookie",
  });
}
