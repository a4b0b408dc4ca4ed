import type { OtherRevision } from "../links/change.ts";
import type { Code, LinkKey } from "../links/code.ts";
import type { Decided, Decision, LinkId, SeenLink } from "../links/link-store.ts";
import { type Reason, REASONS } from "../links/problem.ts";

/** All reports of one link. */
export interface Case extends LinkId {
  readonly firstMs: number;
  readonly lastMs: number;
  /** Each reporter counts once a day. */
  readonly reports: number;
  /** How many reports gave each reason. */
  readonly reasons: Readonly<Partial<Record<Reason, number>>>;
  /** Reports since the case was opened or opened again, without those while the link was disabled or blocked. */
  readonly pending: number;
  /** How many of these gave each reason. Other than `pending` if an undo restored that, or an earlier Curt counted. */
  readonly pendingReasons?: Case["reasons"] | undefined;
  /** When the pending reports disabled the link. */
  readonly disabledMs?: number | undefined;
  /** Undefined while the case is open. */
  readonly answer?: Answer | undefined;
  /** When the link got the target that was answered or disabled. Other times come from other clocks, and can't be compared. */
  readonly targetMs?: number | undefined;
}

interface Answer {
  readonly action: AnswerAction;
  readonly atMs: number;
}

/** How the operator can answer a case. */
export const ANSWERS = ["disable", "block-host", "nothing"] as const;

/** "erase" deletes the link, which also answers its case. */
export type AnswerAction = (typeof ANSWERS)[number] | "erase";

/** A client reports a link. */
export interface Report<Id extends Code | LinkKey = LinkKey> extends LinkId<Id> {
  readonly reason: Reason;
  readonly note?: string | undefined;
  /** The number of the reporter on this link and day. It means nothing elsewhere. */
  readonly reporter: string;
  /** In days (UTC) since 1970-01-01. */
  readonly day: number;
  readonly atMs: number;
  /** Whether the link redirected when it was reported. */
  readonly works: boolean;
  /** When the link got the reported target. Grows with each change of it. */
  readonly targetSinceMs: number;
  /** This number of pending reports disables the link. */
  readonly threshold?: number | undefined;
}

/**
 * Adds a report that counts. It opens an answered case again if the operator's disabling or blocking was undone, or if the
 * maker has changed the target since. After the answer "nothing", reports are only counted.
 */
export function addReport(known: Case | undefined, report: Report): Case {
  const { reason, atMs, works, targetSinceMs } = report;
  const before = known ?? newCase(report);
  const counted = {
    ...before,
    lastMs: Math.max(before.lastMs, atMs),
    reports: before.reports + 1,
    reasons: addReason(reason, before.reasons),
    // Otherwise a single report could undo the operator's enabling.
    pending: before.pending + (works ? 1 : 0),
    pendingReasons: works ? addReason(reason, before.pendingReasons) : before.pendingReasons,
  };
  const { answer, targetMs = Infinity } = before;
  const wasAnotherTarget = targetMs < targetSinceMs;
  const isUndone = answer !== undefined && answer.action !== "nothing";
  const isAgain = works && (wasAnotherTarget || isUndone);
  if (!isAgain) return counted;
  const opened = { pending: 1, pendingReasons: { [reason]: 1 } };
  return { ...counted, ...opened, disabledMs: undefined, answer: undefined, targetMs: undefined };
}

function addReason(reason: Reason, reasons: Case["reasons"] = {}): Case["reasons"] {
  return { ...reasons, [reason]: (reasons[reason] ?? 0) + 1 };
}

function newCase({ code, createdMs, atMs }: Report): Case {
  return { code, createdMs, firstMs: atMs, lastMs: atMs, reports: 0, reasons: {}, pending: 0 };
}

/** Whether the reports disable the link now. They do so once, so that the operator can enable it again. */
export function isDue({ answer, disabledMs, pending }: Case, { works, threshold }: Report): boolean {
  return answer === undefined && disabledMs === undefined && works && pending >= (threshold ?? Infinity);
}

/** The reason that most pending reports gave, which may be about another target than the others. */
export function mainReason({
  reasons,
  pending,
  pendingReasons = {},
}: Pick<Case, "reasons" | "pending" | "pendingReasons">): Reason {
  const known = Object.values(pendingReasons).reduce((sum, count) => sum + count, 0);
  const counts = pending > 0 && known === pending ? pendingReasons : reasons;
  return REASONS.toSorted((one, other) => (counts[other] ?? 0) - (counts[one] ?? 0))[0] ?? "other";
}

/** In code points. */
export const MAX_NOTE_LENGTH = 2000;

/**
 * Stores the reports of links, which {@link addReport} adds up. Every implementation must pass `test/stores/cases.ts`. A
 * method that cannot answer rejects with `StoreUnavailable`.
 */
export interface CaseStore<Id extends Code | LinkKey = LinkKey> {
  /**
   * Adds a report to the case of its link, durably. A second one by the same reporter on the same day doesn't count. If
   * {@link isDue} says so, the same transaction disables the link. However many processes report at once, each reporter
   * counts once, and the link is disabled once.
   */
  report(report: Report<Id>): Promise<"counted" | "repeated" | "disabled">;
  /** Returns the case of a link with its notes, newest first. */
  caseOf(link: LinkId): Promise<NotedCase | undefined>;
  /** Returns open cases, then answered ones; the most recently reported come first. */
  cases(query: CaseQuery): Promise<readonly ListedCase[]>;
  /** The number of open cases, up to {@link MAX_COUNTED_CASES}. */
  openCases(): Promise<number>;
  /**
   * Answers a case durably. The same transaction changes the link or the host, and adds the entry in the operator's
   * journal. Adds none if the link has no case. A later answer replaces an earlier one. Changes nothing if the operator
   * saw another revision.
   */
  answerCase(link: SeenLink, answer: CaseAnswer, decision: Decision): Promise<Decided | OtherRevision>;
  /** Opens an answered case again in the same way, and changes nothing else. */
  reopenCase(link: SeenLink, decision: Decision): Promise<Decided | OtherRevision>;
  /**
   * Deletes reporters of the days before `reportersBefore`, and cases that were last reported before `casesBeforeMs`.
   * Deletes at most `limit` of each, and returns the larger of both numbers.
   */
  ageCases(bounds: CaseBounds, limit: number): Promise<number>;
}

/** A case keeps this number of notes, the newest ones. */
export const MAX_CASE_NOTES = 20;
export const MAX_COUNTED_CASES = 100;
/** At most this number of reports of a link count in one day, which bounds a flood of them. */
export const MAX_DAILY_REPORTS = 10_000;

/** Written by anyone. It may contain any characters. */
export interface Note {
  readonly atMs: number;
  readonly reason: Reason;
  readonly note: string;
}

export interface NotedCase extends Case {
  /** Newest first. */
  readonly notes: readonly Note[];
}

export interface ListedCase extends NotedCase {
  readonly cursor: CaseCursor;
}

export interface CaseQuery {
  readonly limit: number;
  /** Undefined: both. */
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
