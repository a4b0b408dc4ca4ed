import { readSearch, searchAll, searchLinks, type SearchResult } from "../../api/admin/search.ts";
import type { DetachedCall, Call } from "../../http/call.ts";
import { describe, type HttpProblem, problemAnswer } from "../../http/problems.ts";
import { html } from "../../http/responses.ts";
import { parametersOf } from "../../http/url.ts";
import type { Views } from "../../http/views.ts";
import { BODIES, type FieldName, type Fields } from "../../lib/bounds.ts";
import { splitKey } from "../../links/code.ts";
import type { Link } from "../../links/link.ts";
import { isProblem } from "../../links/problem.ts";
import type { Secret } from "../../links/secret.ts";
import type { LinkId } from "../../links/store.ts";
import { authorityOf, targetHost } from "../../links/target.ts";
import { message, sentenceSpace } from "../../locales/messages.ts";
import type { HostRules } from "../../moderation/host-rules.ts";
import type { Inspection, ListPage } from "../../moderation/inspection.ts";
import type { Operator, ReasonedRequest } from "../../moderation/operator.ts";
import { ANSWERS } from "../../moderation/reports/case.ts";
import type { Reports } from "../../moderation/reports/reports.ts";
import { parseSearch } from "../../moderation/search.ts";
import { instantOf, seeOther } from "../forms.ts";
import type { Page } from "../shared/layout.tsx";
import type { SignIn } from "../sign-in/handler.ts";
import { ANSWERED, type Answered, deskPage } from "./desk.tsx";
import { linkPath, type PageContext, withQuery } from "./frame.tsx";
import { hostsPage } from "./hosts.tsx";
import { journalPage } from "./journal.tsx";
import { EXPIRIES, linkPage } from "./link.tsx";
import { type FoundAction, foundPage, linksPage, filledFields } from "./links.tsx";

export interface AdminPagesOptions {
  readonly signIn: SignIn;
  readonly operator: Operator;
  readonly secret: Pick<Secret, "manageKey">;
  readonly reports: Pick<Reports, "answerCase" | "reopenCase">;
  readonly hostRules: Pick<HostRules, "ruleFor">;
  readonly views: Pick<Views, "ask">;
}

const WHO = "page";
/** Hosts on the page that asks before it changes many links. */
const MAX_HOSTS = 100;

/** The operator's pages, which work without scripts. Each form answers 303, so a reload decides nothing again. */
export function createAdminPages({ signIn, operator, secret, reports, hostRules, views }: AdminPagesOptions) {
  const { page, form } = signIn;

  function ask(call: Call, task: AdminPageTask): Promise<Response> {
    return views.ask("adminPage", call, JSON.stringify(task));
  }

  const show = (view: AdminPageView) => page((call, formToken) => ask(call, { view, formToken }));

  /** The page of a link has its manage key, because makers lose theirs, and imported links have none. */
  const showLink = (call: Call, link: LinkId, task: Omit<AdminPageTask, "view" | "manageKey">) =>
    ask(call, { view: "link", manageKey: secret.manageKey(link), ...task });

  /** Decides about one link. False if the form names no decision. */
  async function decide(link: Link, fields: Fields): Promise<HttpProblem | readonly LinkId[] | boolean> {
    switch (fields.get("action") ?? "") {
      case "change":
        return operator.change(link, { ...decisionOf(fields), ...changeOf(link, fields) }, WHO);
      case "disable":
        return operator.disable([link], decisionOf(fields), WHO);
      case "enable":
        return operator.enable([link], decisionOf(fields), WHO);
      case "erase":
        return fields.get("confirm") === link.code ? operator.erase(link, decisionOf(fields), WHO) : false;
      default:
        return false;
    }
  }

  /** Takes back what an answer has changed, and opens the case again. `was` is what stopped the link before, if anything. */
  async function undo(link: Link, { did, was }: Answered): Promise<HttpProblem | undefined> {
    if (did === "nothing" && link.disabled === undefined && was !== "")
      return reports.reopenCase(link, { reason: was }, WHO);
    if (did === "block-host" && was === "") await operator.unblockHost(targetHost(link.target), {}, WHO);
    if (did === "disable" && was === "") await operator.enable([link], {}, WHO);
    if (did === "disable" && was !== "") await operator.disable([link], { reason: was }, WHO);
    return reports.reopenCase(link, {}, WHO);
  }

  /** Blocks the chosen hosts, and returns the problem of the first that can't be blocked. */
  async function blockHosts(
    fields: Fields,
    found: ReadonlyMap<string, number>,
  ): Promise<HttpProblem | undefined> {
    for (const host of fields.getAll("block").filter((one) => found.has(one))) {
      const outcome = await operator.blockHost(host, decisionOf(fields), WHO);
      if (isProblem(outcome)) return outcome;
    }
    return undefined;
  }

  /** Confirms a decision about all links of a search. Without `sent`, it only shows the question. */
  async function decideFound(call: Call, formToken: string, fields?: Fields): Promise<Response> {
    const query = filledFields(readSearch(call.request));
    const list = withQuery("/admin/links", query);
    // Without a search, this would apply to every link.
    if (Object.keys(query).length === 0) return seeOther("/admin/links");
    const links = await searchAll(views, call);
    if (links instanceof Response) return links.status < 500 ? seeOther(list) : links;
    if (isProblem(links)) return ask(call, { view: "links", formToken, problem: links });
    const choice = (fields ?? parametersOf(call.request)).get("action");
    const action = choice === "enable" ? "enable" : "disable";
    const count = links.length;
    const counts = new Map<string, number>();
    for (const { host } of links) if (host !== "") counts.set(host, (counts.get(host) ?? 0) + 1);
    const hosts = [...counts].toSorted(([, one], [, other]) => other - one).slice(0, MAX_HOSTS);
    const again = (problem?: HttpProblem) =>
      ask(call, { view: "found", formToken, problem, found: { action, count, hosts } });
    if (fields === undefined) return again();
    if (fields.get("count") !== String(count)) return again({ kind: "other-count", count });
    const changed = await operator[action](links, decisionOf(fields), WHO);
    if (isProblem(changed)) return again(changed);
    const refusal = await blockHosts(fields, counts);
    return refusal === undefined ? seeOther(`${list}&done=${changed.length}`) : again(refusal);
  }

  return {
    ...signIn,
    figures: show("figures"),
    links: page(async (call, formToken) => {
      const result = await searchLinks(views, call, partOf(call));
      if (!(result instanceof Response)) return ask(call, { view: "links", formToken, result });
      // The page itself says why it can't search.
      return result.status < 500 ? ask(call, { view: "links", formToken }) : result;
    }),
    link: page(async (call, formToken) => {
      const link = await operator.look(call.code);
      return isProblem(link) ? problemAnswer(call, link) : showLink(call, link, { formToken });
    }),
    hosts: show("hosts"),
    journal: show("journal"),
    found: page(decideFound),
    decideFound: form(BODIES["POST /admin/found"], (call, fields, formToken) =>
      decideFound(call, formToken, fields),
    ),

    decide: form(BODIES["POST /admin/links/{code}"], async (call, fields, formToken) => {
      const link = await operator.look(call.code);
      if (isProblem(link)) return problemAnswer(call, link);
      const outcome = await decide(link, fields);
      return isProblem(outcome)
        ? showLink(call, link, { formToken, problem: outcome, typed: fields.get("target") ?? undefined })
        : seeOther(linkPath(link.code));
    }),

    decideHost: form(BODIES["POST /admin/hosts"], async (call, fields, formToken) => {
      const hostText = fields.get("host") ?? "";
      // Reports and the address bar contain addresses.
      const host = authorityOf(hostText.trim()).host || hostText;
      const outcome =
        fields.get("action") === "unblock"
          ? await operator.unblockHost(host, decisionOf(fields), WHO)
          : await operator.blockHost(host, decisionOf(fields), WHO);
      return isProblem(outcome)
        ? ask(call, { view: "hosts", formToken, problem: outcome, typed: hostText })
        : seeOther("/admin/hosts");
    }),

    answer: form(BODIES["POST /admin/cases"], async (call, fields, formToken) => {
      const link = await operator.look(fields.get("code") ?? "");
      if (isProblem(link)) return problemAnswer(call, link);
      const action = fields.get("action") ?? "";
      const isUndo = action === "undo";
      const before = action === "block-host" ? hostRules.ruleFor(link.target)?.reason : link.disabled;
      const outcome = isUndo
        ? await undo(link, answeredIn(fields))
        : await reports.answerCase(link, { ...decisionOf(fields), action }, WHO);
      if (outcome !== undefined && isProblem(outcome))
        return ask(call, { view: "figures", formToken, problem: outcome });
      const answered = { did: action, code: link.code, was: before ?? "" };
      return seeOther(isUndo ? "/admin" : withQuery("/admin", answered));
    }),
  };
}

/** The answer that can be undone, in the fields of a form or the query. */
function answeredIn(fields: Fields): Answered {
  const [did = "", code = "", was = ""] = ANSWERED.map((name) => fields.get(name) ?? "");
  return { did: ANSWERS.find((one) => one === did), code, was };
}

function decisionOf(fields: Fields): ReasonedRequest {
  return { reason: fields.get("reason") ?? "", note: (fields.get("note") ?? "").trim() };
}

/** The changes in a form. A date wins over a duration. */
function changeOf({ originalUrl }: Link, fields: Fields) {
  const target = (fields.get("target") ?? originalUrl).trim();
  const [choice, date] = [fields.get("expires_at") ?? "", fields.get("expires_at_date") ?? ""];
  return {
    originalUrl: target === originalUrl ? undefined : target,
    expiry: instantOf(date, fields.get("zone") ?? "") ?? EXPIRIES.find((one) => one === choice),
  };
}

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
      const inspected = await inspection.look(call.code);
      if (isProblem(inspected)) return problemAnswer(call, inspected);
      const nowMs = inspection.nowMs();
      const { manageKey = "", typed } = task;
      const { keyPrefix, code } = splitKey(inspected.link.code);
      const origin = call.domain.ofKey(keyPrefix)?.origin ?? `https://${keyPrefix.slice(0, -1)}`;
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
      return render(call, task, (context, refusal) =>
        hostsPage(context, { rules: items, cursor, host, refusal }),
      );
    },

    async journal(call, task) {
      const { items, cursor } = await inspection.journal(partOf(call));
      return render(call, task, (context) => journalPage(context, { entries: items, cursor }));
    },
  };

  return (call: DetachedCall, data: string) => {
    const task = JSON.parse(data) as AdminPageTask;
    return views[task.view](call, task);
  };
}

/** A page with the problem on it, if there is one. */
function render(
  call: DetachedCall,
  { formToken, problem }: AdminPageTask,
  show: (context: PageContext, refusal: string | undefined) => Page,
  more: Readonly<Record<string, string>> = {},
): Response {
  const { status, messages, headers } =
    problem === undefined ? { status: 200, messages: [], headers: {} } : describe(problem);
  const describeProblem = (language: string) =>
    messages.map(({ key, values }) => message(language, key, values)).join(sentenceSpace(language));
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

function partOf(call: DetachedCall): ListPage {
  return { cursor: queryValue(call, "cursor") || undefined, limit: LIMIT };
}

function queryValue({ request }: DetachedCall, name: FieldName): string {
  return parametersOf(request).get(name) ?? "";
}
