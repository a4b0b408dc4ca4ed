import type { Code } from "../../links/code.ts";
import type { AnswerAction, Case } from "../../moderation/reports/case.ts";

/** A case as the table has it. */
export interface CaseRow {
  code: Code;
  created_ms: number;
  is_open: boolean;
  first_ms: number;
  last_ms: number;
  reports: number;
  reasons: Case["reasons"];
  pending: number;
  disabled_ms: number | null;
  answer: AnswerAction | null;
  answered_ms: number | null;
  /** Counts the times it was written. */
  version: number;
}

export function toCase(row: CaseRow): Case {
  return {
    code: row.code,
    createdMs: row.created_ms,
    firstMs: row.first_ms,
    lastMs: row.last_ms,
    reports: row.reports,
    reasons: row.reasons,
    pending: row.pending,
    disabledMs: row.disabled_ms ?? undefined,
    answer: row.answer === null ? undefined : { action: row.answer, atMs: row.answered_ms ?? 0 },
  };
}

/**
 * Answers the open cases of links by what became of them. `links` is a table or part of a statement, with their codes and
 * creations.
 */
export const closeCases = (links: string, { answer, atMs }: { answer: AnswerAction; atMs: string }) => `
  UPDATE cases
  SET is_open = false, answer = '${answer}', answered_ms = ${atMs}, disabled_ms = NULL, version = cases.version + 1
  FROM ${links} WHERE cases.code = ${links}.code AND cases.created_ms = ${links}.created_ms AND cases.is_open`;

/** Without the version. */
export function toRow({ answer, ...one }: Case): Omit<CaseRow, "version"> {
  return {
    code: one.code,
    created_ms: one.createdMs,
    is_open: answer === undefined,
    first_ms: one.firstMs,
    last_ms: one.lastMs,
    reports: one.reports,
    reasons: one.reasons,
    pending: one.pending,
    disabled_ms: one.disabledMs ?? null,
    answer: answer?.action ?? null,
    answered_ms: answer?.atMs ?? null,
  };
}
