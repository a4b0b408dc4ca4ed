import { REASONS } from "../../src/links/problem.ts";
import { type Mistake, type Refusal, wrong } from "./refusal.ts";

export interface ReportRefusal extends Refusal {
  readonly sent: Readonly<Record<string, unknown>>;
}

const refuse = (input: string, sent: ReportRefusal["sent"], mistake: Mistake): ReportRefusal => ({
  input,
  sent,
  mistakes: [mistake],
});
const NOT_LISTED: Mistake = {
  field: "reason",
  reason: "field.values",
  values: { values: REASONS.join(", ") },
  inForm: "report.choose",
};
const wrongType = (field: string, expected: string) =>
  wrong(field, "field.type", { expected, received: "number" });

/** Reports that neither the API nor the form accepts. */
export const REPORT_REFUSALS: readonly ReportRefusal[] = [
  refuse("an unknown reason", { reason: "boring", note: "kept <b>" }, NOT_LISTED),
  refuse("a reason of the operator", { reason: "blocklist" }, NOT_LISTED),
  refuse(
    "a note of 2,001 characters",
    { reason: "legal", note: "x".repeat(2001) },
    wrong("note", "note.too-long", { max: 2000 }),
  ),
];

/** Rows for JSON only. */
export const REPORT_TYPE_REFUSALS: readonly ReportRefusal[] = [
  refuse("no reason", {}, wrong("reason", "field.required")),
  refuse("a number as the reason", { reason: 1 }, wrongType("reason", "string")),
  refuse("a number as the note", { reason: "spam", note: 1 }, wrongType("note", "string")),
  refuse(
    "a note with a lone surrogate",
    { reason: "spam", note: "\ud800" },
    wrong("note", "note.ill-formed"),
  ),
];

/** Links that nobody can report. */
export const UNKNOWN: Refusal = {
  input: "an unknown code",
  status: 404,
  mistakes: [{ reason: "link.unknown", key: "unknown" }],
};
export const DELETED: Refusal = {
  input: "a deleted link",
  status: 410,
  mistakes: [{ reason: "link.disabled", key: "disabled.deleted" }],
};
export const CROSS_SITE: Refusal = {
  input: "a page of another site",
  status: 403,
  mistakes: [{ reason: "cross-site" }],
};
