import type { Link, Reason } from "../../src/links/link.ts";
import type { Decision, LinkId, LinkStore } from "../../src/links/store.ts";
import {
  addReport,
  type AnswerAction,
  type Case,
  type CaseCursor,
  type CaseStore,
  isDue,
  type ListedCase,
  mainReason,
  MAX_CASE_NOTES,
  MAX_DAILY_REPORTS,
  type Note,
} from "../../src/moderation/reports/case.ts";
import type { Action, GuardStore } from "../../src/moderation/store.ts";

type Changing = Pick<LinkStore, "disable" | "enable"> &
  Pick<GuardStore, "blockHost"> & { look(link: LinkId): Link | undefined };

/** Reports in memory. `changing` is what the rest of the store does; `enter` adds to the journal. */
export function createMemoryCases(
  changing: () => Changing,
  enter: (
    action: Action,
    decision: Decision & { readonly reason?: Reason },
    subject: LinkId | { readonly host: string },
  ) => void,
): CaseStore & { answer(link: LinkId, action: AnswerAction, decision: Decision): void } {
  const cases = new Map<string, Case>();
  const notes = new Map<string, Note[]>();
  /** By day and link. */
  const reporters = new Map<string, Set<string>>();

  /** The row is replaced before anything waits, so that two reports never see the same one. */
  const store: CaseStore = {
    async report(report) {
      const key = keyOf(report);
      const link = changing().look(report);
      if (link === undefined) return "repeated";
      const today = reporters.get(`${report.day} ${key}`) ?? new Set();
      if (today.has(report.reporter) || today.size >= MAX_DAILY_REPORTS) return "repeated";
      reporters.set(`${report.day} ${key}`, today.add(report.reporter));
      const { atMs, reason, note } = report;
      const one = { ...report, works: report.works && link.disabled === undefined };
      if (note !== undefined)
        notes.set(key, [{ atMs, reason, note }, ...(notes.get(key) ?? [])].slice(0, MAX_CASE_NOTES));
      const counted = addReport(cases.get(key), one);
      const due = isDue(counted, one);
      cases.set(key, due ? { ...counted, disabledMs: atMs } : counted);
      if (!due) return "counted";
      const decision = { who: "reports", atMs, reason: mainReason(counted) } as const;
      await changing().disable([idOf(report)], decision);
      return "disabled";
    },
    async caseOf(link) {
      const found = cases.get(keyOf(link));
      return found && { ...found, notes: notes.get(keyOf(link)) ?? [] };
    },
    async cases({ state, after, limit }) {
      const listed = [...cases.values()]
        .filter(({ answer }) => state === undefined || (answer === undefined) === (state === "open"))
        .map((one): ListedCase => ({ ...one, cursor: cursorOf(one) }))
        .toSorted((a, b) => (a.cursor > b.cursor ? -1 : 1));
      return listed.filter(({ cursor }) => after === undefined || cursor < after).slice(0, limit);
    },
    async answerCase(link, answer, decision) {
      const known = cases.get(keyOf(link));
      if (known === undefined) return false;
      const { action } = answer;
      cases.set(keyOf(link), { ...known, disabledMs: undefined, answer: { action, atMs: decision.atMs } });
      const { disable, enable, blockHost } = changing();
      if (answer.action === "disable") {
        const { reason } = answer;
        const changed = await disable([link], { ...decision, reason });
        if (changed.length === 0) enter("disable", { ...decision, reason }, idOf(link));
      } else if (answer.action === "block-host") {
        const { reason, host } = answer;
        if (!(await blockHost(answer, decision))) enter("block-host", { ...decision, reason }, { host });
      } else {
        enter("nothing-wrong", decision, idOf(link));
        if (known.disabledMs !== undefined) await enable([link], decision);
      }
      return true;
    },
    async ageCases({ reportersBefore, casesBeforeMs }, limit) {
      for (const key of reporters.keys())
        if (Number.parseInt(key, 10) < reportersBefore) reporters.delete(key);
      const due = [...cases].filter(([, { lastMs }]) => lastMs < casesBeforeMs).slice(0, limit);
      for (const [key] of due) {
        cases.delete(key);
        notes.delete(key);
      }
      return due.length;
    },
  };

  return {
    ...store,
    answer(link, action, { who, atMs }) {
      const known = cases.get(keyOf(link));
      if (known !== undefined && known.answer === undefined && who !== "reports")
        cases.set(keyOf(link), { ...known, disabledMs: undefined, answer: { action, atMs } });
    },
  };
}

function keyOf({ code, createdMs }: LinkId): string {
  return `${createdMs} ${code}`;
}

function idOf({ code, createdMs }: LinkId): LinkId {
  return { code, createdMs };
}

function cursorOf({ answer, lastMs, ...link }: Case): CaseCursor {
  return [answer === undefined ? 1 : 0, String(lastMs).padStart(16, "0"), keyOf(link)].join(
    " ",
  ) as CaseCursor;
}
