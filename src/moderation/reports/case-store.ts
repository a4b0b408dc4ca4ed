import type { Reason } from "../../links/link.ts";
import type { Decision, LinkId } from "../../links/store.ts";
import type { Case, Report } from "./case.ts";

/**
 * Stores the reports of links. How reports add up is in `case.ts`. Every implementation must pass `test/stores/cases.ts`.
 * A method that cannot answer rejects with `StoreUnavailable`.
 */
export interface CaseStore {
  /**
   * Adds a report to the case of its link, durably, unless its reporter has reported the link on that day before. If the
   * link is due to be disabled, the same transaction does that. However many processes report at once, each reporter
   * counts once, and the link is disabled once.
   */
  report(report: Report): Promise<"counted" | "repeated" | "disabled">;
  /** The case of a link with its notes, newest first. */
  caseOf(link: LinkId): Promise<(Case & { readonly notes: readonly Note[] }) | undefined>;
  /** Returns open cases, then answered ones; the most recently reported come first. */
  cases(query: CaseQuery): Promise<readonly ListedCase[]>;
  /**
   * Answers a case, durably and in one transaction with what the answer does to the link or the host and with the entry
   * in the journal. Returns false if the link has no case. A later answer replaces an earlier one.
   */
  answerCase(link: LinkId, answer: CaseAnswer, decision: Decision): Promise<boolean>;
  /**
   * Deletes the reporters of the days before `reportersBefore`, and at most `limit` cases that were last reported before
   * `casesBeforeMs`. Returns the number of deleted cases.
   */
  ageCases(bounds: CaseBounds, limit: number): Promise<number>;
}

/** The notes of a case that are kept, the newest ones. */
export const MAX_CASE_NOTES = 20;
/** The reports of a link that count in one day, so that a flood of them stays small. */
export const MAX_DAILY_REPORTS = 10_000;

/** Written by anyone. It may contain any characters. */
export interface Note {
  readonly atMs: number;
  readonly reason: Reason;
  readonly note: string;
}

export interface ListedCase extends Case {
  readonly cursor: CaseCursor;
}

export interface CaseQuery {
  readonly limit: number;
  /** Both, if undefined. */
  readonly state?: CaseState | undefined;
  /** Only cases that come after this one. */
  readonly after?: CaseCursor | undefined;
}

type CaseState = "open" | "answered";

/** The place of a case in the list. Only the store that issued it understands it. */
export type CaseCursor = string & { readonly __brand: "CaseCursor" };

export type CaseAnswer =
  | { readonly action: "disable"; readonly reason: Reason }
  | { readonly action: "block-host"; readonly reason: Reason; readonly host: string }
  | { readonly action: "nothing" };

export interface CaseBounds {
  readonly reportersBefore: number;
  readonly casesBeforeMs: number;
}
