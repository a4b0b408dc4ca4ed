import type { Clock } from "../../links/clock.ts";
import { aimedMs, type FoundLink, type Reason } from "../../links/link.ts";
import type { Links } from "../../links/links.ts";
import { isProblem, type Problem } from "../../links/problem.ts";
import type { LinkId, Who } from "../../links/store.ts";
import { targetHost } from "../../links/target.ts";
import { DAY_MS, HOUR_MS } from "../../links/time.ts";
import { readReason, type RefusedDecision, refuseReason, type RuleCheck } from "../operator.ts";
import type { CaseAnswer, CaseStore, Note } from "./case-store.ts";
import { ANSWERS, type Case } from "./case.ts";
import { refuseNote } from "./note.ts";
import { createReporters, type ReporterOptions } from "./reporter.ts";

/** The use cases around reports. All of them reject with `StoreUnavailable` if the store cannot answer. */
export interface Reports {
  /**
   * Reports a link, by its code as an address spells it. Also links that do not work at the moment can be reported. The
   * result does not tell whether the report counts.
   */
  report(spelling: string, told: Told, address: string): Promise<FoundLink | Problem | RefusedDecision>;
  /**
   * Answers the case of a link by what the operator does about it: "disable" disables the link, "block-host" blocks the
   * host that it leads to, and "nothing" only keeps later reports from opening the case again.
   */
  answerCase(link: LinkId, request: AnswerRequest, who: Who): Promise<Answered | Problem | RefusedDecision>;
  /** Forgets reporters and old cases, in small batches. */
  age(): Promise<void>;
}

interface Told {
  readonly reason: Reason;
  readonly note?: string | undefined;
}

interface AnswerRequest {
  /** One of {@link ANSWERS}. */
  readonly action: string;
  /** One of {@link REASONS}. "nothing" needs none. */
  readonly reason?: string | undefined;
  readonly note?: string | undefined;
}

interface Answered extends Case {
  readonly notes: readonly Note[];
}

export interface ReportsOptions extends Omit<ReporterOptions, "store"> {
  readonly store: CaseStore & ReporterOptions["store"];
  readonly links: Pick<Links, "find">;
  readonly clock: Clock;
  /** So many reports of a link disable it until the operator has looked at it. Null: none do. */
  readonly reportThreshold: number | null;
  readonly refuseRule: RuleCheck;
  /** A report counts. */
  readonly onReported: () => void;
  readonly onDisabled: (link: LinkId) => void;
}

/** Reports of a day may still be under way for so long after it. */
const LATE_MS = HOUR_MS;
const KEEP_MS = 400 * DAY_MS;
const BATCH = 200;
/** Ageing stops here and leaves the rest to the next time. */
const MAX_BATCHES = 100;

export function createReports(options: ReportsOptions): Reports {
  const { store, links, clock, reportThreshold, refuseRule, onReported, onDisabled } = options;
  const reporters = createReporters(options);

  async function toCaseAnswer(
    link: LinkId,
    request: AnswerRequest,
  ): Promise<CaseAnswer | Problem | RefusedDecision> {
    const action = ANSWERS.find((one) => one === request.action);
    const reason = readReason(request.reason ?? "");
    const refusals = [
      ...(action === undefined ? [{ rule: "action.unknown", values: ANSWERS.join(", ") } as const] : []),
      ...(action === "nothing" ? [] : refuseReason(reason)),
      ...refuseNote(request.note),
    ];
    if (action === "nothing" && refusals.length === 0) return { action };
    if (action === undefined || action === "nothing" || reason === undefined || refusals.length > 0)
      return { kind: "refused", refusals };
    if (action === "disable") return { action, reason };
    const found = await links.find(link.code);
    if (isProblem(found)) return found;
    if (found.createdMs !== link.createdMs) return { kind: "unknown" };
    const host = targetHost(found.target);
    const rule = refuseRule(host);
    return rule.length > 0 ? { kind: "refused", refusals: rule } : { action, reason, host };
  }

  return {
    async report(spelling, { reason, note }, address) {
      const refusals = refuseNote(note);
      if (refusals.length > 0) return { kind: "refused", refusals };
      const link = await links.find(spelling);
      if (isProblem(link)) return link;
      const { code, createdMs, disabled } = link;
      const outcome = await store.report({
        code,
        createdMs,
        reason,
        note: note?.trim() === "" ? undefined : note,
        ...(await reporters.identify(link, address)),
        atMs: clock.nowMs(),
        works: disabled === undefined,
        aimedMs: aimedMs(link),
        threshold: reportThreshold ?? undefined,
      });
      if (outcome !== "repeated") onReported();
      if (outcome === "disabled") onDisabled(link);
      return link;
    },

    async answerCase(link, request, who) {
      const caseAnswer = await toCaseAnswer(link, request);
      if (isProblem(caseAnswer)) return caseAnswer;
      const decision = { who, atMs: clock.nowMs(), note: request.note || undefined };
      const isAnswered = await store.answerCase(link, caseAnswer, decision);
      const found = isAnswered ? await store.caseOf(link) : undefined;
      return found ?? { kind: "unknown" };
    },

    async age() {
      for (let batch = 0; batch < MAX_BATCHES && clock.trustworthy(); batch++) {
        const nowMs = clock.nowMs();
        const reportersBefore = Math.floor((nowMs - LATE_MS) / DAY_MS);
        const bounds = { reportersBefore, casesBeforeMs: nowMs - KEEP_MS };
        if ((await store.ageCases(bounds, BATCH)) < BATCH) break;
      }
    },
  };
}
