// The messages of problems that need more than a key: refusals, each with its parameter, and states.
import type { Reason, Refusal } from "../links/problem.ts";
import { message, type MessageKey, type Values } from "../locales/messages.ts";
import type { NotUndone } from "../moderation/moderation-store.ts";
import type { DecisionRefusal } from "../moderation/refusal.ts";
import type { RangeRefusal } from "../visits/statistics/statistics.ts";
import { type FieldNames, partOf } from "./field-names.ts";
import type { ProblemReason } from "./problem-reasons.ts";

/** Why a body or a query is refused before the domain sees it. `rule` is also the key of the message. */
export type RequestRefusal =
  | { rule: "field.required"; field: string }
  | { rule: "field.unknown"; field: string; meant?: string | undefined }
  /** `elsewhere` is the address of the endpoint that has the field. */
  | { rule: "field.unknown"; field: string; elsewhere: string }
  | { rule: "field.fixed"; field: string }
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
  | { rule: "body.object" | "body.array"; example: string; received: string }
  | { rule: "body.nesting" | "body.values"; max: number }
  | { rule: "batch.length"; max: number; count: number };

export interface Message {
  readonly key: MessageKey;
  readonly reason: ProblemReason;
  readonly values?: Values | undefined;
  /** The parameter that the message is about. The API puts its name in front of the text. */
  readonly field?: string | undefined;
  /** No name in front: the contract fixes the whole text. */
  readonly isFixed?: boolean;
}

/** Most messages have the reason as their key. */
export function say(key: MessageKey & ProblemReason, values?: Values, field?: string): Message {
  return { key, reason: key, values, field };
}

export function describeRefusal({ rule, ...values }: Refusal, fields: FieldNames): Message {
  const part = partOf(rule);
  return say(rule, values, fields[part] ?? part);
}

export function describeRequestRefusal(refusal: RequestRefusal): Message {
  if (refusal.rule === "field.unknown") {
    const { rule: reason, field } = refusal;
    if ("elsewhere" in refusal)
      return { key: "field.unknown.elsewhere", reason, values: { address: refusal.elsewhere }, field };
    const { meant } = refusal;
    return meant === undefined
      ? say(reason, {}, field)
      : { key: "field.unknown.meant", reason, values: { meant }, field };
  }
  const { rule, ...values } = refusal;
  return say(rule, values, "field" in values ? values.field : QUERY_FIELDS[rule]);
}

/** The parameter to report for a rule about several. */
const QUERY_FIELDS: Readonly<Partial<Record<RequestRefusal["rule"], string>>> = {
  "qr.contrast": "dark",
  "stats.order": "from",
  "stats.range": "from",
};

/** The first part of the rule names its parameter. */
export function describeOperatorRefusal({ rule, ...values }: DecisionRefusal): Message {
  return say(rule, values, partOf(rule));
}

/** The present state of the link and host of a decision that can't be undone. */
export function describeState(
  reason: ProblemReason,
  { disabled, blocked }: Pick<Exclude<NotUndone, { kind: "decision.unknown" }>, "disabled" | "blocked">,
): Message[] {
  const because = (why: Reason) => ({ reason: (language: string) => message(language, `reason.${why}`) });
  const states: (readonly [MessageKey, Values?])[] = [];
  if (disabled === null) states.push(["admin.state.active"]);
  else if (disabled === "deleted") states.push(["admin.state.deleted"]);
  else if (disabled !== undefined) states.push(["admin.disabled", because(disabled)]);
  if (blocked === null) states.push(["admin.unblocked"]);
  else if (blocked !== undefined) states.push(["admin.blocked", because(blocked)]);
  return states.map(([key, values]) => {
    const state = (language: string) => message(language, key, values);
    return { key: "decision.now", reason, values: { state } };
  });
}

/** Puts the parameter's name in front of a message about it. */
export function nameFirst({ field, isFixed }: Message, text: string): string {
  return field === undefined || isFixed === true ? text : `${field}: ${text}`;
}
