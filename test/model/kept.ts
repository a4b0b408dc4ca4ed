// Short sequences that showed a fault, or that random ones seldom contain. Every `npm test` plays all.
import type { CaseAnswer, Reason } from "./commands.ts";
import type { Step } from "./sequences.ts";

const DAY_MS = 86_400_000;
const HOST = "~h.example";
const client = "203.0.113.1";
const link = { target: `https://${HOST}/`, code: "~a" };
const api = { door: "api", client } as const;
const maker = { ...api, code: link.code, key: { of: 0, nth: 0 }, match: undefined } as const;
const bob = { ...api, who: "bob", code: link.code, match: "*" } as const;
const alice = { ...api, who: "alice" } as const;
const found = { ...alice, kind: "disable-found", search: { host: HOST }, reason: "legal" } as const;
type Action = Exclude<CaseAnswer, "erase"> | "reopen";

/** The steps that a sequence names, by their places in it. All are about one link, or its host. */
const STEPS: Readonly<Record<string, (id: number, one?: string, other?: string) => Step>> = {
  create: (id, code = link.code) => ({ id, kind: "create", ...api, link: { ...link, code } }),
  edit: (id) => ({ id, kind: "edit", ...maker, change: { target: `https://${HOST}/${id}` } }),
  withdraw: (id) => ({ id, kind: "withdraw", ...maker }),
  visit: (id) => ({ id, kind: "visit", ...api, code: link.code, method: "GET", visitor: "person" }),
  // Each is by somebody else.
  report(id, reason = "spam") {
    return { id, kind: "report", ...maker, client: `198.51.${id}.1`, reason: reason as Reason };
  },
  disable: (id, reason) => ({ id, kind: "disable", ...bob, reason: reason as Reason }),
  enable: (id) => ({ id, kind: "enable", ...bob }),
  erase: (id) => ({ id, kind: "erase", ...bob }),
  answer(id, action, reason) {
    return {
      id,
      kind: "answer",
      ...bob,
      action: action as Action,
      ...(reason && { reason: reason as Reason }),
    };
  },
  block: (id, reason) => ({ id, kind: "block", ...api, who: "bob", host: HOST, reason: reason as Reason }),
  count: (id) => ({ id, ...found }),
  disableFound: (id) => ({ id, ...found, countOf: id - 1 }),
  undo: (id, decision) => ({ id, kind: "undo", ...alice, decision: Number(decision) }),
  // The desk's forms are those of the page before.
  view: (id, door = "desk") => ({ id, kind: "view-link", ...alice, door, code: link.code }),
  answerAtDesk(id, action, reason) {
    const seen = { ...alice, door: "desk", code: link.code, match: { seenBy: id - 1 } };
    return { id, kind: "answer", ...seen, action: action as Action, reason: reason as Reason };
  },
  undoAtDesk: (id, decision) => ({ id, kind: "undo", ...alice, door: "desk", decision: Number(decision) }),
  correct(id, field, seenBy) {
    const change = field === "end" ? { ends: { atMs: 2 * DAY_MS } } : { target: link.target };
    return { id, kind: "correct", ...bob, match: { seenBy: Number(seenBy) }, change };
  },
  journal: (id) => ({ id, kind: "view-journal", ...alice }),
  cases: (id) => ({ id, kind: "view-cases", ...alice }),
  advance: (id) => ({ id, kind: "advance", ms: 60_000 }),
  moveToKilled: (id) => ({ id, kind: "move", door: "killed", client, into: "empty" }),
  importDisabled(id, disabled) {
    const links = [{ ...link, createdMs: -DAY_MS, disabled: disabled as Reason }];
    return { id, kind: "import", door: "export", client, links, visits: [] };
  },
  importVisits(id, code = "") {
    const visits = [{ code, dayMs: -DAY_MS, visits: 5 }];
    return { id, kind: "import", door: "csv", client, links: [{ ...link, createdMs: -DAY_MS }], visits };
  },
};

/** `report+ erase+` are sent at once. */
function stepsIn(text: string): Step[] {
  return text.split(" ").map((word, id) => {
    const [name = "", one, other] = word.split(/[(,)+]/).filter((part) => part !== "");
    const step = STEPS[name]?.(id, one, other);
    if (step === undefined) throw new TypeError(`there is no step ${word}`);
    return word.endsWith("+") ? { ...step, together: 1 } : step;
  });
}

/** As text, or as `npm run model` prints them. */
const SEQUENCES: readonly (string | readonly Step[])[] = [
  // Undo of a decision about one link, its host or its case
  "create disable(spam) disable(spam) disable(legal) undo(2) undo(3) undo(1) undo(2) undo(1) visit",
  "create block(spam) block(spam) block(legal) undo(2) undo(3) undo(2)",
  "create report view answerAtDesk(disable,spam) disable(legal) undoAtDesk(3)",
  "create report view answerAtDesk(block-host,spam) block(legal) undoAtDesk(3)",
  "create disable(legal) report view answerAtDesk(disable,spam) undoAtDesk(4) answer(nothing) visit",
  "create report report answer(block-host,spam) undo(3) answer(nothing) visit",
  "create report answer(nothing) answer(disable,phishing) answer(block-host,spam) answer(reopen) undo(5) undo(3) \
undo(4) undo(3) report undo(2)",
  "create report answer(nothing) answer(reopen) report undo(3) undo(2)",
  "create report answer(nothing) answer(reopen) edit report undo(3) undo(2)",
  "create report erase disable(spam) answer(nothing) undo(2)",
  "create report answer(nothing) report undo(2)",
  // Undo of a decision about many
  "create report count disableFound undo(3)",
  "create report report count disableFound undo(4)",
  "importDisabled(spam) count disableFound undo(2) visit",
  "create disable(spam) count disableFound report undo(3)",
  "create create(~b) disable(spam) count disableFound enable undo(4) undo(5) undo(4) undo(4)",
  // Reports
  "create report(malware) report(malware) enable report visit edit report report",
  "create disable(legal) report report enable report visit report",
  "create report answer(disable,spam) enable report",
  "create report answer(nothing) report edit report undo(2) answer(nothing) disable(spam) undo(8)",
  "create report report answer(nothing) edit report undo(3) answer(nothing) visit",
  "create report answer(nothing) edit report report undo(2)",
  "create report(malware) report(malware) answer(nothing) edit report(spam) report(spam) visit",
  "create report+ erase+ cases",
  // Others
  "create block(legal) advance withdraw",
  "create view(api) correct(end,1)+ correct(target,1)+",
  "create disable(spam) moveToKilled journal",
  "importVisits(~여)",
];

export const KEPT = SEQUENCES.map((one) => (typeof one === "string" ? stepsIn(one) : one));
