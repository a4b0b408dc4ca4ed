import { writtenSearch } from "../../http/api/admin/query.ts";
import type { SearchResult } from "../../http/api/admin/search.ts";
import type { Asked } from "../../http/call.ts";
import { describe, type HttpProblem, problemAnswer } from "../../http/problems.ts";
import { html } from "../../http/responses.ts";
import { queryOf } from "../../http/url.ts";
import { isProblem } from "../../links/problem.ts";
import { message, sentenceSpace } from "../../locales/messages.ts";
import type { Inspection, ListPage } from "../../moderation/inspection.ts";
import { parseSearch } from "../../moderation/search.ts";
import type { Page } from "../shared/layout.tsx";
import { casesPage } from "./cases.tsx";
import { figuresPage } from "./figures.tsx";
import { type Operator, withQuery } from "./frame.tsx";
import { hostsPage } from "./hosts.tsx";
import { journalPage } from "./journal.tsx";
import { linkPage } from "./link.tsx";
import { linksPage, wantedOf } from "./links.tsx";
import { type FoundAction, foundPage } from "./search-results.tsx";

export type AdminPageView = "figures" | "links" | "link" | "found" | "hosts" | "cases" | "journal";

/** What the serving thread sends, beside the request. */
export interface AdminPageTask {
  readonly view: AdminPageView;
  readonly formToken: string;
  /** Why what a form asked for was not done. */
  readonly problem?: HttpProblem | undefined;
  /** What the form about hosts had. */
  readonly host?: string;
  /** What the page of links shows. */
  readonly result?: SearchResult;
  readonly found?: {
    readonly action: FoundAction;
    readonly count: number;
    readonly hosts: readonly (readonly [string, number])[];
  };
}

const LIMIT = 50;

/** The operator's pages. Runs on the thread that makes views; whoever asks is signed in. */
export function createAdminPageViews(inspection: Inspection) {
  const views: Record<AdminPageView, (call: Asked, task: AdminPageTask) => Promise<Response>> = {
    async figures(call, task) {
      const figures = await inspection.figures();
      return show(call, task, (operator) => figuresPage(operator, figures));
    },

    async links(call, task) {
      const search = writtenSearch(call.request);
      const query = parseSearch(search);
      const problem = task.problem ?? (isProblem(query) ? query : undefined);
      const { links: ids = [], cursor, searched = 1 } = task.result ?? {};
      const links = await inspection.links(ids);
      const [done] = /^\d{1,5}$/.exec(queried(call, "done")) ?? [];
      const found = {
        search,
        links,
        cursor,
        searched,
        nowMs: inspection.nowMs(),
        ...(done !== undefined && { done: Number(done) }),
      };
      const next = withQuery("/admin/links", { ...wantedOf(search), cursor: cursor ?? "" });
      return show(
        call,
        { ...task, problem },
        (operator, refusal) => linksPage(operator, { ...found, refusal }),
        // Nobody wants to ask for many empty pages.
        cursor !== undefined && links.length === 0 ? { Refresh: `0; url=${next}` } : {},
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

/** A page, with what went wrong on it. */
function show(
  call: Asked,
  { formToken, problem }: AdminPageTask,
  render: (operator: Operator, refusal: string | undefined) => Page,
  more: Readonly<Record<string, string>> = {},
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
    { ...headers, ...more },
  );
}

/** Which part of a list a page shows. */
export function partOf(call: Asked): ListPage {
  return { cursor: queried(call, "cursor") || undefined, limit: LIMIT };
}

function queried({ request }: Asked, name: string): string {
  return new URLSearchParams(queryOf(request)).get(name) ?? "";
}
