import { type Reason, REASONS } from "../../links/link.ts";
import type { LinkId } from "../../links/store.ts";

/** All reports of one link. */
export interface Case extends LinkId {
  readonly firstMs: number;
  readonly lastMs: number;
  /** One client counts once a day. */
  readonly reports: number;
  /** How many reports gave each reason. */
  readonly reasons: Readonly<Partial<Record<Reason, number>>>;
  /** Reports since the case was opened or opened again. */
  readonly pending: number;
  /** When so many reports were pending that the link was disabled. */
  readonly disabledMs?: number | undefined;
  /** Undefined while the case is open. */
  readonly answer?: Answer | undefined;
}

interface Answer {
  readonly action: AnswerAction;
  readonly atMs: number;
}

/** How the operator can answer a case. */
export const ANSWERS = ["disable", "block-host", "nothing"] as const;

/** What the operator did about a case. */
export type AnswerAction = (typeof ANSWERS)[number] | "erase";

/** A client reports a link. */
export interface Report extends LinkId {
  readonly reason: Reason;
  readonly note?: string | undefined;
  /** A number that the client has for this link and day. It means nothing elsewhere. */
  readonly reporter: string;
  /** In days (UTC) since 1970-01-01. */
  readonly day: number;
  readonly atMs: number;
  /** Whether the link led somewhere when it was reported. */
  readonly works: boolean;
  /** Since when it leads where it led then. What was decided before that was about another target. */
  readonly aimedMs: number;
  /** So many pending reports disable the link. */
  readonly threshold?: number | undefined;
}

/**
 * Adds a report that counts. An answered case is opened again if the link works although the operator had disabled it or
 * blocked its host; after the answer "nothing", reports are only counted. If its maker has changed the target since, the
 * case is opened again whatever was answered.
 */
export function addReport(known: Case | undefined, report: Report): Case {
  const { reason, atMs, works, aimedMs } = report;
  const before = known ?? newCase(report);
  const counted = {
    ...before,
    lastMs: Math.max(before.lastMs, atMs),
    reports: before.reports + 1,
    reasons: { ...before.reasons, [reason]: (before.reasons[reason] ?? 0) + 1 },
    pending: before.pending + 1,
  };
  const { answer, disabledMs } = before;
  const wasAnotherTarget = (answer?.atMs ?? disabledMs ?? Infinity) <= aimedMs;
  const isUndone = answer !== undefined && answer.action !== "nothing";
  const isAgain = works && (wasAnotherTarget || isUndone);
  return isAgain ? { ...counted, pending: 1, disabledMs: undefined, answer: undefined } : counted;
}

function newCase({ code, createdMs, atMs }: Report): Case {
  return { code, createdMs, firstMs: atMs, lastMs: atMs, reports: 0, reasons: {}, pending: 0 };
}

/** Whether the reports disable the link now. They do so once, so that the operator can enable it again. */
export function isDue({ answer, disabledMs, pending }: Case, { works, threshold }: Report): boolean {
  return answer === undefined && disabledMs === undefined && works && pending >= (threshold ?? Infinity);
}

/** The reason that most reports gave. */
export function mainReason({ reasons }: Pick<Case, "reasons">): Reason {
  return REASONS.toSorted((one, other) => (reasons[other] ?? 0) - (reasons[one] ?? 0))[0] ?? "other";
}
