/** @jsxImportSource ../shared/html */
import { newestMs, readSearch, searchAll } from "../../api/admin/search-slices.ts";
import type { Call, DetachedCall } from "../../http/call.ts";
import type { Show } from "../../http/endpoint.ts";
import type { Page } from "../../http/page.ts";
import type { HttpProblem } from "../../http/problems.ts";
import { parametersOf } from "../../http/url.ts";
import { MAX_PAIRS } from "../../lib/bounds.ts";
import { isProblem } from "../../links/problem.ts";
import { isoInstant, parseInstant } from "../../links/time.ts";
import type { WrittenSearch } from "../../moderation/link-query.ts";
import { seeOther } from "../forms.ts";
import { answerProblem } from "../problem/answer.ts";
import { HostName } from "../shared/destination.tsx";
import { Fact } from "../shared/link-facts.tsx";
import { withQuery } from "../shared/with-query.ts";
import { Decide, Field, Form } from "./decision-form.tsx";
import { filledFields, SEARCH_LABELS, showLinks } from "./found-links.tsx";
import { adminPage } from "./frame.tsx";
import { Given } from "./link-to.tsx";
import {
  operatorForm,
  operatorPage,
  type OperatorPageParts,
  type PageData,
  renderPage,
  type SentForm,
} from "./operator-page.ts";
import type { PageContext } from "./page-context.ts";

type Action = "disable" | "enable" | "hand-over";

/** All links that a search finds. */
interface FoundLinks extends PageData {
  readonly action: Action;
  readonly count: number;
  /** When the newest one was created. */
  readonly until: string;
  /** The hosts of most of these links. */
  readonly hosts: readonly (readonly [host: string, links: number])[];
}

/** Hosts on the page that asks for confirmation. A form with more fields is refused. */
const MAX_HOSTS = MAX_PAIRS - 10;

/** Asks for confirmation before a decision about all links of a search. */
export const showDecideAll = operatorPage(
  "GET /admin/found",
  () => async (call: DetachedCall, data: FoundLinks) => {
    const query = filledFields(readSearch(call.request));
    return renderPage(call, data, (context) => confirmationPage(context, query, data));
  },
  serveConfirmation,
);

export const decideAll = operatorForm("POST /admin/found", (parts) => {
  const decide = serveConfirmation(parts, parts.views.show(showDecideAll));
  return (form) => decide(form.call, form.formToken, form);
});

/** Decides about all links of a search. Without a form, it only asks for confirmation. */
function serveConfirmation({ operator, views, signIn }: OperatorPageParts, show: Show<FoundLinks>) {
  const showAll = views.show(showLinks);
  return async (call: Call, formToken: string, form?: SentForm): Promise<Response> => {
    const query = filledFields(readSearch(call.request));
    const list = withQuery("/admin/links", query);
    // Without a search, this would apply to every link.
    if (Object.keys(query).length === 0) return seeOther("/admin/links");
    const seen = form && {
      count: Number(form.textOf("count")),
      untilMs: parseInstant(form.textOf("until")) ?? Infinity,
    };
    const found = await searchAll(views, call, seen);
    if ("kind" in found && found.kind !== "other-count") {
      if (found.kind === "refused") return seeOther(list);
      return found.kind === "too-many"
        ? showAll(call, { formToken, problem: found, result: undefined })
        : answerProblem(call, found);
    }
    const links = "kind" in found ? found.links : found;
    const choice = form?.textOf("action") ?? parametersOf(call.request).get("action");
    const action: Action = choice === "enable" || choice === "hand-over" ? choice : "disable";
    const counts = new Map<string, number>();
    for (const { host } of links) if (host !== "") counts.set(host, (counts.get(host) ?? 0) + 1);
    const hosts = [...counts].toSorted(([, one], [, other]) => other - one).slice(0, MAX_HOSTS);
    const confirmation = { action, count: links.length, until: isoInstant(newestMs(links)), hosts } as const;
    if (form === undefined) return show(call, { formToken, ...confirmation });
    const again = (problem: HttpProblem) => show(call, { ...form.refused(problem), ...confirmation });
    if ("kind" in found) return again({ kind: found.kind, count: found.count });
    // Access may have ended during the search.
    const access = signIn.page(async () => {
      const { fields, decision, actor } = form;
      // Hosts first: if one can't be blocked, the links stay as they are.
      for (const host of fields.getAll("block").filter((one) => counts.has(one))) {
        const outcome = await operator.blockHost(host, decision, actor);
        if (isProblem(outcome)) return again(outcome);
      }
      const outcome =
        action === "hand-over"
          ? await operator.handOver(links, { ...decision, owner: form.textOf("owner").trim() }, actor)
          : await operator[action](links, decision, actor);
      return isProblem(outcome) ? again(outcome) : form.decided(outcome, list);
    });
    return access(call);
  };
}

/** Shows how many links a search finds, and asks before changing them. */
function confirmationPage(
  context: PageContext,
  query: Record<string, string>,
  { action, count, until, hosts }: FoundLinks,
): Page {
  const { say, sent } = context;
  return adminPage(
    context,
    "links",
    say(`admin.found.${action}.title`, { count }),
    <>
      <dl class="facts">
        {Object.entries(query).map(([name, value]) => (
          <Fact name={say(SEARCH_LABELS[name as keyof WrittenSearch])}>
            <Given text={value} />
          </Fact>
        ))}
      </dl>
      <Form
        context={context}
        action={withQuery("/admin/found", query)}
        hidden={{ action, count: String(count), until }}
        kind="decision"
      >
        <fieldset>
          <legend>{say(action === "disable" ? "admin.found.block" : "admin.found.hosts")}</legend>
          <ul class="rows">
            {hosts.map(([host, links]) => (
              <li>
                {action === "disable" ? (
                  <label class="check">
                    <input
                      {...{ type: "checkbox", name: "block", value: host }}
                      checked={sent.getAll("block").includes(host)}
                    />{" "}
                    <HostName host={host} />
                  </label>
                ) : (
                  <HostName host={host} />
                )}{" "}
                <span class="soft">{say("admin.found.links", { count: links })}</span>
              </li>
            ))}
          </ul>
        </fieldset>
        {action === "hand-over" && (
          <Field
            label={say("manage.owner")}
            input={{ name: "owner", value: sent.get("owner") ?? "", required: true }}
          />
        )}
        <Decide context={context} action={action} reason={action === "disable" ? "" : undefined} />
      </Form>
      <p>
        <a href={withQuery("/admin/links", query)}>{say("admin.back")}</a>
      </p>
    </>,
  );
}
