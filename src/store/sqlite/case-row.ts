import type { Code } from "../../links/code.ts";
import type { AnswerAction, Case } from "../../moderation/reports/case.ts";

/** A case as the table has it. */
export interface CaseRow {
  id: number;
  code: Code;
  created_ms: number;
  is_open: number;
  first_ms: number;
  last_ms: number;
  reports: number;
  reasons: string;
  pending: number;
  disabled_ms: number | null;
  answer: AnswerAction | null;
  answered_ms: number | null;
}

export function toCase(row: CaseRow): Case {
  return {
    code: row.code,
    createdMs: row.created_ms,
    firstMs: row.first_ms,
    lastMs: row.last_ms,
    reports: row.reports,
    reasons: JSON.parse(row.reasons) as Case["reasons"],
    pending: row.pending,
    disabledMs: row.disabled_ms ?? undefined,
    answer: row.answer === null ? undefined : { action: row.answer, atMs: row.answered_ms ?? 0 },
  };
}
