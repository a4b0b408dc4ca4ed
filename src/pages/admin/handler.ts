import { readSearch, searchAll, searchLinks } from "../../api/admin/search.ts";
import type { Call } from "../../http/call.ts";
import { type HttpProblem } from "../../http/problems.ts";
import { parametersOf } from "../../http/url.ts";
import type { Views } from "../../http/views.ts";
import { BODIES, type Fields } from "../../lib/bounds.ts";
import { versionOf } from "../../links/change.ts";
import type { LinkKey } from "../../links/code.ts";
import type { StoredLink } from "../../links/link.ts";
import { isProblem } from "../../links/problem.ts";
import type { Secret } from "../../links/secret.ts";
import type { LinkId } from "../../links/store.ts";
import { authorityOf, targetHost } from "../../links/target.ts";
import { DURATIONS } from "../../links/time.ts";
import type { Restore } from "../../moderation/case.ts";
import type { HostRules } from "../../moderation/host-rules.ts";
import {
  type Operator,
  type ReadLink,
  type ReasonedRequest,
  readReason,
  requireSeen,
} from "../../moderation/operator.ts";
import type { Cases } from "../../moderation/reports/reports.ts";
import { instantOf, seeOther } from "../forms.ts";
import { problemAnswer } from "../problem/answer.ts";
import type { SignIn } from "../sign-in/handler.ts";
import { type Answered, answeredIn } from "./desk.tsx";
import { linkPath, withQuery } from "./frame.tsx";
import { filledFields } from "./links.tsx";
import { type AdminPageTask, type AdminPageView, partOf } from "./views.ts";

export interface AdminPagesOptions {
  readonly signIn: SignIn;
  readonly operator: Operator;
  readonly secret: Pick<Secret<LinkKey>, "manageKey">;
  readonly cases: Pick<Cases, "answerCase" | "reopenCase">;
  readonly hostRules: Pick<HostRules, "ruleFor">;
  readonly views: Pick<Views, "ask">;
}

const WHO = "page";
/** Hosts on the page that asks before it changes many links. */
const MAX_HOSTS = 100;

/** The operator's pages, which work without scripts. Each form answers 303, so a reload decides nothing again. */
export function createAdminPages({ signIn, operator, secret, cases, hostRules, views }: AdminPagesOptions) {
  const { page, form } = signIn;

  function ask(call: Call, task: AdminPageTask): Promise<Response> {
    return views.ask("adminPage", call, JSON.stringify(task));
  }

  const show = (view: AdminPageView) => page((call, formToken) => ask(call, { view, formToken }));

  /** The page of a link has its manage key, because makers lose theirs, and imported links have none. */
  const showLink = (call: Call, link: LinkId, task: Omit<AdminPageTask, "view" | "manageKey">) =>
    ask(call, { view: "link", manageKey: secret.manageKey(link), ...task });

  /** Decides about one link. False if the form names no decision. */
  async function decide(link: ReadLink, fields: Fields): Promise<HttpProblem | readonly LinkId[] | boolean> {
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
      const link = await operator.find(call.code);
      return isProblem(link) ? problemAnswer(call, link) : showLink(call, link, { formToken });
    }),
    hosts: show("hosts"),
    journal: show("journal"),
    found: page(decideFound),
    decideFound: form(BODIES["POST /admin/found"], (call, fields, formToken) =>
      decideFound(call, formToken, fields),
    ),

    decide: form(BODIES["POST /admin/links/{code}"], async (call, fields, formToken) => {
      const link = await operator.find(call.code);
      if (isProblem(link)) return problemAnswer(call, link);
      const seen = seenBy(link, fields);
      const outcome = isProblem(seen) ? seen : await decide(seen, fields);
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
      const link = await operator.find(fields.get("code") ?? "");
      if (isProblem(link)) return problemAnswer(call, link);
      const action = fields.get("action") ?? "";
      const again = (problem: HttpProblem) => ask(call, { view: "figures", formToken, problem });
      const seen = seenBy(link, fields);
      if (isProblem(seen)) return again(seen);
      const host = targetHost(link.target);
      const rule = hostRules.ruleFor(link.target);
      const ruled = rule?.host === host ? rule.reason : undefined;
      const outcome =
        action === "undo"
          ? await cases.reopenCase(seen, stateBefore(link, answeredIn(fields)), {}, WHO)
          : await cases.answerCase(seen, { ...decisionOf(fields), action }, WHO);
      if (outcome !== undefined && isProblem(outcome)) return again(outcome);
      const was = (action === "block-host" ? ruled : link.disabled) ?? "";
      const answered = { did: action, code: link.code, was, seen: versionOf(link), block: host };
      return seeOther(withQuery("/admin", answered));
    }),
  };
}

/** Returns the link if it still is as the form's page showed it. */
function seenBy(link: StoredLink, fields: Fields) {
  return requireSeen(link, [fields.get("seen") ?? ""]);
}

/** Returns the state before an answer, to undo it. `was` is the reason that stopped the link before, if any. */
function stateBefore(link: StoredLink, { did, was }: Answered): Restore {
  const reason = readReason(was);
  if (did === "block-host") return { host: { name: targetHost(link.target), reason } };
  if (did === "disable") return { disabled: reason ?? null };
  // Does nothing to a link that the operator has disabled since.
  return did === "nothing" && link.disabled === undefined ? { disabled: reason } : {};
}

function decisionOf(fields: Fields): ReasonedRequest {
  return { reason: fields.get("reason") ?? "", note: (fields.get("note") ?? "").trim() };
}

/** The changes in a form. A date wins over a duration. */
function changeOf({ originalUrl }: StoredLink, fields: Fields) {
  const target = (fields.get("target") ?? originalUrl).trim();
  const [choice, date] = [fields.get("expires_at") ?? "", fields.get("expires_at_date") ?? ""];
  return {
    originalUrl: target === originalUrl ? undefined : target,
    terms: {
      expires_at:
        instantOf(date, fields.get("zone") ?? "") ??
        (choice === "never" ? null : DURATIONS.find((one) => one === choice)),
    },
  };
}
