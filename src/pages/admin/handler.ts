import { readSearch, searchAll, searchLinks } from "../../api/admin/search.ts";
import type { Call } from "../../http/call.ts";
import { type HttpProblem, problemAnswer } from "../../http/problems.ts";
import { queryOf } from "../../http/url.ts";
import type { Views } from "../../http/views/views.ts";
import { isProblem } from "../../links/problem.ts";
import type { LinkId } from "../../links/store.ts";
import { authorityOf } from "../../links/target.ts";
import type { Operator, ReasonedRequest } from "../../moderation/operator.ts";
import type { Reports } from "../../moderation/reports/reports.ts";
import { seeOther, type SignIn } from "../sign-in/handler.ts";
import { linkPath, withQuery } from "./frame.tsx";
import { wantedOf } from "./links.tsx";
import { type AdminPageTask, type AdminPageView, partOf } from "./views.ts";

export interface AdminPagesOptions {
  readonly signIn: SignIn;
  readonly operator: Operator;
  readonly reports: Pick<Reports, "answerCase">;
  readonly views: Pick<Views, "ask">;
}

const WHO = "page";
/** Hosts on the page that asks before it changes many links. */
const MAX_HOSTS = 100;

/** The operator's pages, which work without scripts. What a form asks for is done once, and then shown (303). */
export function createAdminPages({ signIn, operator, reports, views }: AdminPagesOptions) {
  const { page, form } = signIn;

  function ask(call: Call, task: AdminPageTask): Promise<Response> {
    return views.ask("adminPage", call, JSON.stringify(task));
  }

  const show = (view: AdminPageView) => page((call, formToken) => ask(call, { view, formToken }));

  /** Decides about one link, by the button that was pressed. */
  async function decide(
    link: LinkId,
    sent: URLSearchParams,
  ): Promise<HttpProblem | readonly LinkId[] | boolean> {
    switch (sent.get("action") ?? "") {
      case "disable":
        return operator.disable([link], decisionOf(sent), WHO);
      case "enable":
        return operator.enable([link], decisionOf(sent), WHO);
      case "erase":
        return sent.get("confirm") === link.code ? operator.erase(link, decisionOf(sent), WHO) : false;
      default:
        return false;
    }
  }

  /** Blocks the hosts that were chosen; the problem of the first that cannot be blocked. */
  async function blockHosts(
    sent: URLSearchParams,
    found: ReadonlyMap<string, number>,
  ): Promise<HttpProblem | undefined> {
    for (const host of sent.getAll("block").filter((one) => found.has(one))) {
      const outcome = await operator.blockHost(host, decisionOf(sent), WHO);
      if (isProblem(outcome)) return outcome;
    }
    return undefined;
  }

  /** Asks what is to happen to all links that a search finds; `sent` is the answer. */
  async function decideFound(call: Call, formToken: string, sent?: URLSearchParams): Promise<Response> {
    const wanted = wantedOf(readSearch(call.request));
    const list = withQuery("/admin/links", wanted);
    // Without a search it would be about every link there is.
    if (Object.keys(wanted).length === 0) return seeOther("/admin/links");
    const links = await searchAll(views, call);
    if (links instanceof Response) return links.status < 500 ? seeOther(list) : links;
    if (isProblem(links)) return ask(call, { view: "links", formToken, problem: links });
    const asked = (sent ?? new URLSearchParams(queryOf(call.request))).get("action");
    const action = asked === "enable" ? "enable" : "disable";
    const count = links.length;
    const counts = new Map<string, number>();
    for (const { host } of links) if (host !== "") counts.set(host, (counts.get(host) ?? 0) + 1);
    const hosts = [...counts].toSorted(([, one], [, other]) => other - one).slice(0, MAX_HOSTS);
    const again = (problem?: HttpProblem) =>
      ask(call, { view: "found", formToken, problem, found: { action, count, hosts } });
    if (sent === undefined) return again();
    if (sent.get("count") !== String(count)) return again({ kind: "other-count", count });
    const changed = await operator[action](links, decisionOf(sent), WHO);
    if (isProblem(changed)) return again(changed);
    const refused = await blockHosts(sent, counts);
    return refused === undefined ? seeOther(`${list}&done=${changed.length}`) : again(refused);
  }

  return {
    ...signIn,
    figures: show("figures"),
    links: page(async (call, formToken) => {
      const result = await searchLinks(views, call, partOf(call));
      if (!(result instanceof Response)) return ask(call, { view: "links", formToken, result });
      // The page itself says what is wrong with a search.
      return result.status < 500 ? ask(call, { view: "links", formToken }) : result;
    }),
    link: show("link"),
    hosts: show("hosts"),
    cases: show("cases"),
    journal: show("journal"),
    found: page(decideFound),
    decideFound: form((call, sent, formToken) => decideFound(call, formToken, sent)),

    decide: form(async (call, sent, formToken) => {
      const link = await operator.look(call.code);
      if (isProblem(link)) return problemAnswer(call, link);
      const outcome = await decide(link, sent);
      return isProblem(outcome)
        ? ask(call, { view: "link", formToken, problem: outcome })
        : seeOther(linkPath(link.code));
    }),

    decideHost: form(async (call, sent, formToken) => {
      const written = sent.get("host") ?? "";
      // A report or the browser's address bar gives an address.
      const host = authorityOf(written.trim()).host || written;
      const outcome =
        sent.get("action") === "unblock"
          ? await operator.unblockHost(host, decisionOf(sent), WHO)
          : await operator.blockHost(host, decisionOf(sent), WHO);
      return isProblem(outcome)
        ? ask(call, { view: "hosts", formToken, problem: outcome, host: written })
        : seeOther("/admin/hosts");
    }),

    answer: form(async (call, sent, formToken) => {
      const link = await operator.look(sent.get("code") ?? "");
      if (isProblem(link)) return problemAnswer(call, link);
      const request = { ...decisionOf(sent), action: sent.get("action") ?? "" };
      const answered = await reports.answerCase(link, request, WHO);
      return isProblem(answered)
        ? ask(call, { view: "cases", formToken, problem: answered })
        : seeOther("/admin/cases");
    }),
  };
}

export type AdminPages = ReturnType<typeof createAdminPages>;

function decisionOf(sent: URLSearchParams): ReasonedRequest {
  return { reason: sent.get("reason") ?? "", note: (sent.get("note") ?? "").trim() };
}
