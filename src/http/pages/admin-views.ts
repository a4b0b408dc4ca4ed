import type { InspectedLink, Inspection, Part } from "../../guard/inspection.ts";
import type { LinkQuery } from "../../guard/search.ts";
import { message, sentenceSpace } from "../../language/messages.ts";
import { isProblem } from "../../links/problem.ts";
import { casesPage } from "../../pages/admin/cases.tsx";
import { figuresPage } from "../../pages/admin/figures.tsx";
import { type FoundAction, foundPage } from "../../pages/admin/found.tsx";
import type { Operator } from "../../pages/admin/frame.tsx";
import { journalPage } from "../../pages/admin/history.tsx";
import { hostsPage } from "../../pages/admin/hosts.tsx";
import { linkPage } from "../../pages/admin/link.tsx";
import { linksPage } from "../../pages/admin/links.tsx";
import type { Page } from "../../pages/layout.tsx";
import { html } from "../answers.ts";
import { readSearch, writtenSearch } from "../api/admin/query.ts";
import type { Asked } from "../call.ts";
import { describe, type HttpProblem, problemAnswer } from "../problems.ts";
import { queryOf } from "../url.ts";

export type AdminPageView = "figures" | "links" | "link" | "found" | "hosts" | "cases" | "journal";

/** What the serving thread sends, beside the request. */
export interface AdminPageTask {
  readonly view: AdminPageView;
  readonly formToken: string;
  /** Why what a form asked for was not done. */
  readonly problem?: HttpProblem | undefined;
  /** What the form about hosts had. */
  readonly host?: string;
  readonly found?: {
    readonly action: FoundAction;
    readonly count: number;
    readonly hosts: readonly (readonly [string, number])[];
  };
}

const LIMIT = 50;
/** How long a page of links may take to find. A part takes some 20 ms. */
const FIND_MS = 1000;

/** The operator's pages. Runs on the thread that makes views; whoever asks is signed in. */
export function createAdminPageViews(inspection: Inspection) {
  const views: Record<AdminPageView, (call: Asked, task: AdminPageTask) => Promise<Response>> = {
    async figures(call, task) {
      const figures = await inspection.figures();
      return show(call, task, (operator) => figuresPage(operator, figures));
    },

    async links(call, task) {
      const search = writtenSearch(call.request);
      const query = readSearch(call.request);
      const problem = task.problem ?? (isProblem(query) ? query : undefined);
      const { links, cursor } =
        isProblem(query) || problem !== undefined
          ? { links: [], cursor: undefined }
          : await findPage(inspection, query, partOf(call));
      const [done] = /^\d{1,5}$/.exec(queried(call, "done")) ?? [];
      const found = {
        search,
        links,
        cursor,
        nowMs: inspection.nowMs(),
        ...(done !== undefined && { done: Number(done) }),
      };
      return show(call, { ...task, problem }, (operator, refusal) =>
        linksPage(operator, { ...found, refusal }),
      );
    },

    async link(call, task) {
      const inspected = await inspection.look(call.code);
      if (isProblem(inspected)) return problemAnswer(call, inspected);
      const nowMs = inspection.nowMs();
      return show(call, task, (operator, refusal) => linkPage(operator, { ...inspected, nowMs, refusal }));
    },

    async found(call, task) {
      const { action = "disable", count = 0, hosts = [] } = task.found ?? {};
      const search = writtenSearch(call.request);
      return show(call, task, (operator, refusal) =>
        foundPage(operator, { action, search, count, hosts, refusal }),
      );
    },

    async hosts(call, task) {
      const { items, cursor } = await inspection.hosts(partOf(call));
      const host = task.host ?? queried(call, "host");
      return show(call, task, (operator, refusal) =>
        hostsPage(operator, { rules: items, cursor, host, refusal }),
      );
    },

    async cases(call, task) {
      const found = await inspection.cases(partOf(call));
      const nowMs = inspection.nowMs();
      return show(call, task, (operator, refusal) => casesPage(operator, { ...found, nowMs, refusal }));
    },

    async journal(call, task) {
      const { items, cursor } = await inspection.journal(partOf(call));
      return show(call, task, (operator) => journalPage(operator, { entries: items, cursor }));
    },
  };

  return (call: Asked, data: string) => {
    const task = JSON.parse(data) as AdminPageTask;
    return views[task.view](call, task);
  };
}

/** Goes on for a while if a part of a search finds little: nobody wants to ask for hundreds of empty pages. */
async function findPage(inspection: Inspection, query: LinkQuery, { cursor, limit }: Part) {
  const untilMs = performance.now() + FIND_MS;
  const links: InspectedLink[] = [];
  for (let from = cursor; ;) {
    const found = await inspection.find(query, { cursor: from, limit: limit - links.length });
    links.push(...found.links);
    if (found.cursor === undefined || links.length >= limit || performance.now() > untilMs)
      return { links, cursor: found.cursor };
    from = found.cursor;
    // Other pages take turns with the parts.
    await Bun.sleep(0);
  }
}

/** A page, with what went wrong on it. */
function show(
  call: Asked,
  { formToken, problem }: AdminPageTask,
  render: (operator: Operator, refusal: string | undefined) => Page,
): Response {
  const { status, messages, headers } =
    problem === undefined ? { status: 200, messages: [], headers: {} } : describe(problem);
  const tell = (language: string) =>
    messages.map(({ key, values }) => message(language, key, values)).join(sentenceSpace(language));
  // Once is enough to be told what was done.
  const { done: _, ...query } = Object.fromEntries(new URLSearchParams(queryOf(call.request)));
  return html(
    call,
    status,
    (language) => render({ language, formToken, query }, tell(language) || undefined),
    headers,
  );
}

function partOf(call: Asked): Part {
  return { cursor: queried(call, "cursor") || undefined, limit: LIMIT };
}

function queried({ request }: Asked, name: string): string {
  return new URLSearchParams(queryOf(request)).get(name) ?? "";
}
