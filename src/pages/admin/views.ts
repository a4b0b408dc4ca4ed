import { type SearchResult } from "../../api/admin/endpoint.ts";
import { readSearch } from "../../api/admin/search.ts";
import type { DetachedCall } from "../../http/call.ts";
import type { Page } from "../../http/page.ts";
import { describe, type HttpProblem } from "../../http/problems.ts";
import { html } from "../../http/responses.ts";
import { parametersOf } from "../../http/url.ts";
import type { FieldName } from "../../lib/bounds.ts";
import { splitKey } from "../../links/code.ts";
import { isProblem } from "../../links/problem.ts";
import { message, sentenceSpace } from "../../locales/messages.ts";
import type { Inspection, ListPage } from "../../moderation/inspection.ts";
import { readReason } from "../../moderation/operator.ts";
import { parseSearch } from "../../moderation/search.ts";
import { problemAnswer } from "../problem/answer.ts";
import { ANSWERED, answeredIn, deskPage } from "./desk.tsx";
import { type PageContext, withQuery } from "./frame.tsx";
import { hostsPage } from "./hosts.tsx";
import { journalPage } from "./journal.tsx";
import { linkPage } from "./link.tsx";
import { filledFields, type FoundAction, foundPage, linksPage } from "./links.tsx";

export type AdminPageView = "figures" | "links" | "link" | "found" | "hosts" | "journal";

/** The task that the serving thread sends with the request. */
export interface AdminPageTask {
  readonly view: AdminPageView;
  readonly formToken: string;
  /** Why the form's request wasn't carried out. */
  readonly problem?: HttpProblem | undefined;
  /** The text in a refused form. */
  readonly typed?: string | undefined;
  readonly manageKey?: string;
  readonly result?: SearchResult;
  readonly found?: {
    readonly action: FoundAction;
    readonly count: number;
    readonly hosts: readonly (readonly [string, number])[];
  };
}

const LIMIT = 50;

/** The operator's pages on the views thread. The serving thread has checked the session. */
export function createAdminPageViews(inspection: Inspection) {
  const views: Record<AdminPageView, (call: DetachedCall, task: AdminPageTask) => Promise<Response>> = {
    async figures(call, task) {
      const cases = await inspection.cases(partOf(call), "open");
      const figures = await inspection.figures();
      const answered = answeredIn(parametersOf(call.request));
      const nowMs = inspection.nowMs();
      return render(call, task, (context, refusal) =>
        deskPage(context, { cases: { ...cases, nowMs }, figures, answered, refusal }),
      );
    },

    async links(call, task) {
      const search = readSearch(call.request);
      const query = parseSearch(search);
      const problem = task.problem ?? (isProblem(query) ? query : undefined);
      const { links: ids = [], cursor, searched = 1 } = task.result ?? {};
      const links = await inspection.links(ids);
      const [done] = /^\d{1,5}$/.exec(queryValue(call, "done")) ?? [];
      const found = {
        search,
        links,
        cursor,
        searched,
        nowMs: inspection.nowMs(),
        ...(done !== undefined && { done: Number(done) }),
      };
      const next = withQuery("/admin/links", { ...filledFields(search), cursor: cursor ?? "" });
      return render(
        call,
        { ...task, problem },
        (context, refusal) => linksPage(context, { ...found, refusal }),
        // Skips pages on which the search found nothing.
        cursor !== undefined && links.length === 0 ? { Refresh: `0; url=${next}` } : {},
      );
    },

    async link(call, task) {
      const inspected = await inspection.details(call.code);
      if (isProblem(inspected)) return problemAnswer(call, inspected);
      const nowMs = inspection.nowMs();
      const { manageKey = "", typed } = task;
      const { keyPrefix, code } = splitKey(inspected.link.code);
      const origin = call.domain.ofKey(inspected.link.code)?.origin ?? `https://${keyPrefix.slice(0, -1)}`;
      const manageUrl = `${origin}/${encodeURIComponent(code)}+#key=${manageKey}`;
      return render(call, task, (context, refusal) =>
        linkPage(context, { ...inspected, manageUrl, typed, nowMs, refusal }),
      );
    },

    async found(call, task) {
      const { action = "disable", count = 0, hosts = [] } = task.found ?? {};
      const search = readSearch(call.request);
      return render(call, task, (context, refusal) =>
        foundPage(context, { action, search, count, hosts, refusal }),
      );
    },

    async hosts(call, task) {
      const { items, cursor } = await inspection.hosts(partOf(call));
      const host = task.typed ?? queryValue(call, "host");
      const reason = readReason(queryValue(call, "reason"));
      return render(call, task, (context, refusal) =>
        hostsPage(context, { rules: items, cursor, host, reason, refusal }),
      );
    },

    async journal(call, task) {
      const { items, cursor } = await inspection.decisions(partOf(call));
      return render(call, task, (context) => journalPage(context, { entries: items, cursor }));
    },
  };

  return (call: DetachedCall, data: string) => {
    const task = JSON.parse(data) as AdminPageTask;
    return views[task.view](call, task);
  };
}

/** Renders a page, with the problem if there is one. */
function render(
  call: DetachedCall,
  { formToken, problem }: AdminPageTask,
  show: (context: PageContext, refusal: string | undefined) => Page,
  more: Readonly<Record<string, string>> = {},
): Response {
  const { status, messages, headers } =
    problem === undefined ? { status: 200, messages: [], headers: {} } : describe(problem);
  const describeProblem = (language: string) =>
    problem?.kind === "precondition.failed"
      ? message(language, "admin.changed")
      : messages.map(({ key, values }) => message(language, key, values)).join(sentenceSpace(language));
  // The confirmation is for the first visit only.
  const once: readonly string[] = ["done", ...ANSWERED];
  const query = Object.fromEntries([...parametersOf(call.request)].filter(([name]) => !once.includes(name)));
  return html(
    call,
    status,
    (language) => show({ language, formToken, query }, describeProblem(language) || undefined),
    {
      ...headers,
      ...more,
    },
  );
}

export function partOf(call: DetachedCall): ListPage {
  return { cursor: queryValue(call, "cursor") || undefined, limit: LIMIT };
}

function queryValue({ request }: DetachedCall, name: FieldName): string {
  return parametersOf(request).get(name) ?? "";
}
