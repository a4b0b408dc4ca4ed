/** @jsxImportSource ../shared/html */
import { readSearch, searchAll } from "../../api/admin/search.ts";
import type { Call, DetachedCall } from "../../http/call.ts";
import type { Show } from "../../http/endpoint.ts";
import type { Page } from "../../http/page.ts";
import type { HttpProblem } from "../../http/problems.ts";
import { parametersOf } from "../../http/url.ts";
import type { Fields } from "../../lib/bounds.ts";
import { isProblem } from "../../links/problem.ts";
import { isoInstant, parseInstant } from "../../links/time.ts";
import { message } from "../../locales/messages.ts";
import type { WrittenSearch } from "../../moderation/search.ts";
import { seeOther } from "../forms.ts";
import { answerProblem } from "../problem/answer.ts";
import { HostName } from "../shared/destination.tsx";
import { Notice } from "../shared/fields.tsx";
import { Fact } from "../shared/link-facts.tsx";
import {
  decisionOf,
  operatorForm,
  operatorPage,
  type OperatorPageParts,
  type PageData,
  renderPage,
  actorOf,
} from "./endpoint.ts";
import { adminPage, Decide, Form, Given, type PageContext, withQuery } from "./frame.tsx";
import { filledFields, SEARCH_LABELS, showLinks } from "./links.tsx";

type Action = "disable" | "enable";

/** All links that a search finds. */
interface FoundLinks {
  readonly action: Action;
  readonly count: number;
  /** The hosts of most of these links. */
  readonly hosts: readonly (readonly [host: string, links: number])[];
}

interface Confirmation extends FoundLinks {
  readonly search: WrittenSearch;
  readonly refusal: string | undefined;
}

type ConfirmationData = FoundLinks & PageData;

/** Hosts on the page that asks for confirmation. */
const MAX_HOSTS = 100;

/** Asks for confirmation before a decision about all links of a search. */
export const showDecideAll = operatorPage(
  "GET /admin/found",
  () => async (call: DetachedCall, data: ConfirmationData) => {
    const search = readSearch(call.request);
    return renderPage(call, data, (context, refusal) =>
      confirmationPage(context, { ...data, search, refusal }),
    );
  },
  serveConfirmation,
);

export const decideAll = operatorForm("POST /admin/found", (parts) => {
  const decide = serveConfirmation(parts, parts.views.show(showDecideAll));
  return (call, fields, formToken) => decide(call, formToken, fields);
});

/** Decides about all links of a search. Without `fields`, it only asks for confirmation. */
function serveConfirmation({ operator, views, signIn }: OperatorPageParts, show: Show<ConfirmationData>) {
  const showAll = views.show(showLinks);

  /** Blocks the chosen hosts, and returns the problem of the first that can't be blocked. */
  async function blockHosts(
    call: Call,
    fields: Fields,
    counts: ReadonlyMap<string, number>,
  ): Promise<HttpProblem | undefined> {
    for (const host of fields.getAll("block").filter((one) => counts.has(one))) {
      const outcome = await operator.blockHost(host, decisionOf(fields), actorOf(call));
      if (isProblem(outcome)) return outcome;
    }
    return undefined;
  }

  return async (call: Call, formToken: string, fields?: Fields): Promise<Response> => {
    const query = filledFields(readSearch(call.request));
    const list = withQuery("/admin/links", query);
    // Without a search, this would apply to every link.
    if (Object.keys(query).length === 0) return seeOther("/admin/links");
    const links = await searchAll(views, call);
    if ("kind" in links) {
      if (links.kind === "refused") return seeOther(list);
      return links.kind === "too-many"
        ? showAll(call, { formToken, problem: links, result: undefined })
        : answerProblem(call, links);
    }
    const choice = (fields ?? parametersOf(call.request)).get("action");
    const action = choice === "enable" ? "enable" : "disable";
    const count = links.length;
    const counts = new Map<string, number>();
    for (const { host } of links) if (host !== "") counts.set(host, (counts.get(host) ?? 0) + 1);
    const hosts = [...counts].toSorted(([, one], [, other]) => other - one).slice(0, MAX_HOSTS);
    const again = (problem?: HttpProblem) => show(call, { formToken, problem, action, count, hosts });
    if (fields === undefined) return again();
    const undoesMs = action === "enable" ? parseInstant(fields.get("undoes") ?? "") : undefined;
    // An undo needs no confirmation, and links may have been created since.
    if (undoesMs === undefined && fields.get("count") !== String(count))
      return again({ kind: "other-count", count });
    const decide = async () => {
      const changed = await operator[action](links, { ...decisionOf(fields), undoesMs }, actorOf(call));
      if (isProblem(changed)) return again(changed);
      const refusal = await blockHosts(call, fields, counts);
      if (refusal !== undefined) return again(refusal);
      const undo = action === "disable" ? `&undoes=${isoInstant(changed.atMs)}` : "";
      return seeOther(`${list}&done=${changed.links.length}${undo}`);
    };
    // Access may have ended during the search.
    return signIn.page(decide)(call);
  };
}

/** Shows how many links a search finds, and asks before changing them. */
function confirmationPage(
  context: PageContext,
  { action, search, count, hosts, refusal }: Confirmation,
): Page {
  const { language } = context;
  const query = filledFields(search);
  return adminPage(
    context,
    "links",
    message(language, `admin.found.${action}.title`, { count }),
    <>
      <Notice text={refusal} />
      <dl class="facts">
        {Object.entries(query).map(([name, value]) => (
          <Fact name={message(language, SEARCH_LABELS[name as keyof WrittenSearch])}>
            <Given text={value} />
          </Fact>
        ))}
      </dl>
      <Form
        context={context}
        action={withQuery("/admin/found", query)}
        hidden={{ action, count: String(count) }}
      >
        <fieldset>
          <legend>
            {message(language, action === "disable" ? "admin.found.block" : "admin.found.hosts")}
          </legend>
          <ul class="rows">
            {hosts.map(([host, links]) => (
              <li>
                {action === "disable" ? (
                  <label class="check">
                    <input type="checkbox" name="block" value={host} /> <HostName host={host} />
                  </label>
                ) : (
                  <HostName host={host} />
                )}{" "}
                <span class="soft">{message(language, "admin.found.links", { count: links })}</span>
              </li>
            ))}
          </ul>
        </fieldset>
        <Decide language={language} action={action} reason={action === "disable" ? "" : undefined} />
      </Form>
      <p>
        <a href={withQuery("/admin/links", query)}>{message(language, "admin.back")}</a>
      </p>
    </>,
  );
}
