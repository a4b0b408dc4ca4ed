import { ANSWERS } from "../guard/case.ts";
import { COUNTED } from "../guard/counters.ts";
import type { Part } from "../guard/inspection.ts";
import { LINK_STATES } from "../guard/search.ts";
import { toldCase, toldEntry, toldFigures, toldInspected, toldLink, toldRule } from "../guard/told.ts";
import { REASONS } from "../links/link.ts";
import { isProblem } from "../links/problem.ts";
import type { Command, Commands } from "./command.ts";
import { changeFound, changeLink, decisionOf, list, searchOf, tell, USUAL_LIMIT } from "./decide.ts";
import { failBy, operate } from "./operate.ts";
import { printRow, printRows } from "./print.ts";

type Options = NonNullable<Command["options"]>;

const WHO = "shell";

const JSON_OUTPUT: Options = { json: { type: "boolean", meaning: "one JSON object a line" } };
const LIST: Options = {
  limit: { type: "string", meaning: `at most so many; ${USUAL_LIMIT} if not given` },
  ...JSON_OUTPUT,
};
const NOTE: Options = { note: { type: "string", meaning: "a private note for the journal" } };
const WHY: Options = {
  reason: {
    type: "string",
    values: REASONS,
    isRequired: true,
    meaning: "the reason, which visitors are told",
  },
  ...NOTE,
};
const SEARCH: Options = {
  q: { type: "string", meaning: "a code, its beginning, or a part of the destination" },
  host: { type: "string", meaning: "host of the destination, with all hosts below it" },
  state: { type: "string", values: LINK_STATES, meaning: "state of the link" },
  from: { type: "string", meaning: "created on this day (UTC) or later, such as 2026-11-21" },
  to: { type: "string", meaning: "created on this day (UTC) or earlier" },
};
const YES: Options = { yes: { type: "boolean", meaning: "do it; without this, nothing is changed" } };

/** What the operator does from a shell. No server needs to run, and no token is asked for: the file's owner may. */
export const ADMIN_COMMANDS: Commands = {
  "admin links": {
    summary: "find links, newest first",
    options: { ...SEARCH, ...LIST },
    run: operate(async ({ inspection }, { options }) => {
      const query = searchOf(options);
      if (isProblem(query)) return failBy(query);
      const find = async (part: Part) => {
        const { links, cursor } = await inspection.find(query, part);
        return { items: links, cursor };
      };
      const nowMs = inspection.nowMs();
      return list(options, find, (link) => toldLink(link, nowMs), [
        "code",
        "state",
        "reason",
        "created",
        "target",
      ]);
    }),
  },
  "admin show": {
    summary: "show a link, its reports and what was decided about it",
    positionals: ["CODE"],
    options: JSON_OUTPUT,
    run: operate(async ({ inspection }, { positionals: [code = ""], options }) => {
      const looked = await inspection.look(code);
      if (isProblem(looked)) return failBy(looked);
      const { history, case: reported, ...link } = toldInspected(looked, inspection.nowMs());
      if (options["json"] === true) printRow({ ...link, case: reported, history }, true);
      else {
        printRow(link, false);
        if (reported !== null) {
          const { notes, ...counted } = reported;
          printRow({ reported: counted }, false);
          printRows(notes, ["at", "reason", "note"], false);
        }
        if (history.length > 0) printRows(history, ["at", "who", "action", "reason", "note"], false);
      }
      return 0;
    }),
  },
  "admin disable": {
    summary: "disable a link; its visitors are told why",
    positionals: ["CODE"],
    options: { ...WHY, ...JSON_OUTPUT },
    run: changeLink(({ operator }, link, options) => operator.disable([link], decisionOf(options), WHO)),
  },
  "admin enable": {
    summary: "enable a disabled link again",
    positionals: ["CODE"],
    options: { ...NOTE, ...JSON_OUTPUT },
    run: changeLink(({ operator }, link, options) => operator.enable([link], decisionOf(options), WHO)),
  },
  "admin delete": {
    summary: "delete a link's destination and visits for good; its code stays taken",
    positionals: ["CODE"],
    options: { ...YES, ...NOTE, ...JSON_OUTPUT },
    run: changeLink(({ operator }, link, options) =>
      options["yes"] === true
        ? operator.erase(link, decisionOf(options), WHO)
        : Promise.resolve(`this cannot be undone. Add --yes to delete ${link.code}`),
    ),
  },
  "admin disable-found": {
    summary: "disable all links that a search finds",
    options: { ...SEARCH, ...WHY, ...YES, ...JSON_OUTPUT },
    run: changeFound(({ operator }, links, options) => operator.disable(links, decisionOf(options), WHO)),
  },
  "admin enable-found": {
    summary: "enable all links that a search finds",
    options: { ...SEARCH, ...NOTE, ...YES, ...JSON_OUTPUT },
    run: changeFound(({ operator }, links, options) => operator.enable(links, decisionOf(options), WHO)),
  },
  "admin hosts": {
    summary: "list the blocked hosts",
    options: LIST,
    run: operate(({ inspection }, { options }) =>
      list(options, inspection.hosts, toldRule, ["host", "reason", "since"]),
    ),
  },
  "admin block": {
    summary: "block a host and all hosts below it: no link to them works",
    positionals: ["HOST"],
    options: { ...WHY, ...JSON_OUTPUT },
    run: operate(async ({ operator }, { positionals: [host = ""], options }) =>
      tell(await operator.blockHost(host, decisionOf(options), WHO), options),
    ),
  },
  "admin unblock": {
    summary: "unblock a host",
    positionals: ["HOST"],
    options: { ...NOTE, ...JSON_OUTPUT },
    run: operate(async ({ operator }, { positionals: [host = ""], options }) =>
      tell(await operator.unblockHost(host, decisionOf(options), WHO), options),
    ),
  },
  "admin cases": {
    summary: "list reported links, those without an answer first",
    options: LIST,
    run: operate(({ inspection }, { options }) => {
      const nowMs = inspection.nowMs();
      const toRow = (one: Parameters<typeof toldCase>[0]) => {
        const told = toldCase(one, nowMs);
        return options["json"] === true ? told : { ...told, target: told.link?.target ?? null };
      };
      return list(options, inspection.cases, toRow, [
        "code",
        "state",
        "reports",
        "reasons",
        "last",
        "target",
      ]);
    }),
  },
  "admin answer": {
    summary: "answer the reports of a link",
    positionals: ["CODE"],
    options: {
      action: {
        type: "string",
        values: ANSWERS,
        isRequired: true,
        meaning: "nothing means that nothing is wrong, and quiets further reports",
      },
      ...WHY,
      reason: { type: "string", values: REASONS, meaning: "the reason, needed for disable and block-host" },
      ...JSON_OUTPUT,
    },
    run: operate(async ({ operator, reports }, { positionals: [code = ""], options }) => {
      const link = await operator.look(code);
      if (isProblem(link)) return failBy(link);
      const request = { ...decisionOf(options), action: String(options["action"]) };
      const answered = await reports.answerCase(link, request, WHO);
      if (isProblem(answered))
        return failBy(answered.kind === "unknown" ? { kind: "operator.no-case" } : answered);
      return tell({ code: link.code, changed: true }, options);
    }),
  },
  "admin figures": {
    summary: "show how many links, visits and refusals there are",
    options: JSON_OUTPUT,
    run: operate(async ({ inspection }, { options }) => {
      const figures = toldFigures(await inspection.figures());
      if (options["json"] === true) printRow(figures, true);
      else {
        const { newest_hosts, visited_hosts, days, ...counts } = figures;
        printRow(counts, false);
        printRows(
          newest_hosts.hosts.map(({ host, count }) => ({ newest_links_to: host, links: count })),
          ["newest_links_to", "links"],
          false,
        );
        printRows(
          visited_hosts.hosts.map(({ host, count }) => ({ visited_today: host, visits: count })),
          ["visited_today", "visits"],
          false,
        );
        printRows(days, ["date", "visits", "bots", ...COUNTED], false);
      }
      return 0;
    }),
  },
  "admin journal": {
    summary: "list everything that was decided, newest first",
    options: LIST,
    run: operate(({ inspection }, { options }) =>
      list(options, inspection.journal, toldEntry, ["at", "who", "action", "code", "host", "reason", "note"]),
    ),
  },
};
