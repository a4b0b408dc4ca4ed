// Short sequences that showed a fault, or that random ones seldom contain. Every `npm test` plays all.
import type { CaseAnswer, Reason } from "./commands.ts";
import type { Step } from "./sequences.ts";

const DAY_MS = 86_400_000;
const HOST = "~h.example";
const client = "203.0.113.1";
const link = { target: `https://${HOST}/`, code: "~a" };
const api = { door: "api", client, person: "mina" } as const;
// Whom the proxy doesn't name.
const maker = { door: "api", client, code: link.code, key: { of: 0, nth: 0 }, match: undefined } as const;
const by = (person = "mina") => ({ ...maker, person, isKeyless: true });
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
  editAs(id, person, field) {
    const change = field === "title" ? { title: `~A-team ${id}` } : { target: `https://${HOST}/${id}` };
    return { id, kind: "edit", ...by(person), change };
  },
  handOver: (id, person, owner = "joon") => ({ id, kind: "edit", ...by(person), change: { owner } }),
  withdrawAs: (id, person) => ({ id, kind: "withdraw", ...by(person) }),
  readAs: (id, person, door = "api") => ({ id, kind: "read", ...by(person), door }),
  // With the first button of a page.
  bringBackAs(id, person, seenBy = String(id - 1)) {
    const seen = { door: "form", match: { seenBy: Number(seenBy) }, nth: 0 };
    return { id, kind: "bring-back", ...by(person), ...seen };
  },
  read: (id) => ({ id, kind: "read", door: "api", client, code: link.code, key: undefined }),
  preview: (id) => ({ id, kind: "preview", ...api, code: link.code }),
  journal: (id) => ({ id, kind: "view-journal", ...alice }),
  cases: (id) => ({ id, kind: "view-cases", ...alice }),
  advance: (id, ms = "60000") => ({ id, kind: "advance", ms: Number(ms) }),
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
  // Owners and editors
  "create readAs(joon)",
  "create editAs(mina,title) preview readAs(joon) read",
  "create withdraw handOver(mina,joon) readAs(joon)",
  "create handOver(mina,joon) edit withdrawAs(mina) withdrawAs(joon)",
  "create editAs(joon,title) readAs(mina,form) bringBackAs(mina) readAs(joon)",
  "create editAs(joon,target) editAs(mina,target) readAs(joon,form) bringBackAs(joon) handOver(joon,joon)",
  "create editAs(joon,target) readAs(mina,form) edit bringBackAs(mina,2)",
  "create editAs(joon,target) readAs(mina,form) advance(90000000) bringBackAs(mina,2)",
  // Others
  "create block(legal) advance withdraw",
  "create view(api) correct(end,1)+ correct(target,1)+",
  "create disable(spam) moveToKilled journal",
  "importVisits(~여)",
];

export const KEPT = SEQUENCES.map((one) => (typeof one === "string" ? stepsIn(one) : one));
