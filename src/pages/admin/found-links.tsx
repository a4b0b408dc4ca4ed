/** @jsxImportSource ../shared/html */
import { readSearch, searchLinks } from "../../api/admin/search-slices.ts";
import type { Page } from "../../http/page.ts";
import { shownCode } from "../../links/link.ts";
import { isProblem } from "../../links/problem.ts";
import { targetHost } from "../../links/target.ts";
import { isoInstant, parseInstant } from "../../links/time.ts";
import type { MessageKey } from "../../locales/messages.ts";
import { whenAgo } from "../../locales/relative-time.ts";
import type { InspectedLink } from "../../moderation/inspection.ts";
import { operatorStateOf, parseSearch, type WrittenSearch } from "../../moderation/link-query.ts";
import type { SearchResult } from "../../views/reads.ts";
import { seeOther } from "../forms.ts";
import { answerProblem } from "../problem/answer.ts";
import { Chip } from "../shared/chip.tsx";
import { describeDestination } from "../shared/destination-parts.ts";
import { HostName } from "../shared/destination.tsx";
import { withQuery } from "../shared/with-query.ts";
import { Reasons } from "./answers.tsx";
import { Form } from "./decision-form.tsx";
import { adminPage, Empty, More, Search } from "./frame.tsx";
import { Key } from "./key.tsx";
import { LinkTo } from "./link-to.tsx";
import { operatorForm, operatorPage, type PageData, listPageOf, renderPage } from "./operator-page.ts";
import type { PageContext } from "./page-context.ts";

export const SEARCH_LABELS = {
  q: "admin.q",
  host: "admin.q.host",
} as const satisfies Record<keyof WrittenSearch, MessageKey>;

/** Names of columns. */
const HEADS = ["preview.leads", "links.state", "created-by", "links.made"] as const;

/** `searched` is the share of all links, from 0 to 1. There is no cursor at the end of the search. */
interface ListedLinks extends Pick<SearchResult, "cursor" | "searched"> {
  readonly search: WrittenSearch;
  readonly links: readonly InspectedLink[];
}

interface LinksData extends PageData {
  readonly result: SearchResult | undefined;
}

/** A search, and the links that it finds. */
export const showLinks = operatorPage(
  "GET /admin/links",
  (inspection) => async (call, data: LinksData) => {
    const search = readSearch(call.request);
    const query = parseSearch(search);
    const problem = data.problem ?? (isProblem(query) ? query : undefined);
    const { links: ids = [], cursor, searched = 1 } = data.result ?? {};
    const links = await inspection.links(ids);
    const next = withQuery("/admin/links", { ...filledFields(search), cursor: cursor ?? "" });
    return renderPage(
      call,
      { ...data, problem },
      (context) => linksPage(context, { search, links, cursor, searched }),
      // Skips pages on which the search found nothing.
      cursor !== undefined && links.length === 0 ? { Refresh: `0; url=${next}` } : {},
    );
  },
  ({ views }, show) =>
    async (call, formToken) => {
      const result = await searchLinks(views, readSearch(call.request), listPageOf(call));
      if (!("kind" in result)) return show(call, { formToken, result });
      // The page itself says why it can't search.
      return result.kind === "refused"
        ? show(call, { formToken, result: undefined })
        : answerProblem(call, result);
    },
);

function linksPage(context: PageContext, { search, links, cursor, searched }: ListedLinks): Page {
  const { language, say, refusal } = context;
  const query = filledFields(search);
  const isSearch = Object.keys(query).length > 0;
  const percent = new Intl.NumberFormat(language, { style: "percent", roundingMode: "floor" });
  const [newest] = links;
  return adminPage(
    context,
    "links",
    say("admin.links"),
    <>
      <Search context={context}>
        <button>{say("admin.search")}</button>
      </Search>
      {isSearch && (links.length > 0 || cursor !== undefined) && (
        <p class="found">
          {actionsOn(query).map((action) => (
            <a class="button" href={withQuery("/admin/found", { ...query, action })}>
              {say(`admin.found.${action}`)}
            </a>
          ))}
        </p>
      )}
      {newest !== undefined && (
        <Form
          context={context}
          action={withQuery("/admin/links", query)}
          hidden={{ until: isoInstant(newest.createdMs) }}
          kind="picks"
        >
          <div class="all hint">
            <label>
              <input type="checkbox" data-all />
              {say("admin.pick.all")}
            </label>
            {HEADS.map((key) => (
              <span aria-hidden="true">{say(key)}</span>
            ))}
          </div>
          <LinkRows context={context} links={links} />
          <div class="bulk" role="group" aria-label={say("admin.picked")}>
            <strong>{say("admin.picked")}</strong>
            <button type="reset" class="quiet" aria-keyshortcuts="Escape">
              {say("admin.pick.none")}
              <Key name="Esc" />
            </button>
            <button name="action" value="enable">
              {say("admin.do.enable")}
            </button>
            <button type="button" class="primary danger opens" popovertarget="reasons" aria-keyshortcuts="d">
              {say("admin.do.disable")}
              <Key name="D" />
            </button>
            <Reasons context={context} action="disable" />
          </div>
        </Form>
      )}
      {refusal === undefined && links.length === 0 && cursor === undefined && (
        <Empty context={context} texts={["admin.links.none"]} />
      )}
      {isSearch && cursor !== undefined && (
        <p role="status">{say("admin.links.searched", { share: percent.format(searched) })}</p>
      )}
      {cursor !== undefined && <More context={context} path="/admin/links" query={{ ...query, cursor }} />}
    </>,
  );
}

/** Decisions that are possible about all links of a search. Only a person's links are handed over together. */
function actionsOn({ q = "" }: Record<string, string>) {
  const both = ["disable", "enable"] as const;
  return q.startsWith("owner:") ? (["hand-over", ...both] as const) : both;
}

/** Decides about the selected links, unless their codes have others since. */
export const decideLinks = operatorForm("POST /admin/links", ({ operator, views }) => {
  const show = views.show(showLinks);
  return async (form) => {
    const { call, fields, textOf, action, decision, actor } = form;
    const list = withQuery("/admin/links", filledFields(readSearch(call.request)));
    const untilMs = parseInstant(textOf("until")) ?? 0;
    const found = await Promise.all(fields.getAll("code").map(async (code) => operator.find(code)));
    const links = found.flatMap((one) => (isProblem(one) || one.createdMs > untilMs ? [] : [one]));
    if (links.length === 0) return seeOther(list);
    const outcome = await operator[action === "enable" ? "enable" : "disable"](links, decision, actor);
    return isProblem(outcome)
      ? show(call, { ...form.refused(outcome), result: undefined })
      : form.decided(outcome, list);
  };
});

/** The fields that the operator filled in. */
export function filledFields(search: object): Record<string, string> {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== ""));
}

/** Destinations are text, so that nobody opens one by accident. */
function LinkRows({ context, links }: { context: PageContext; links: readonly InspectedLink[] }) {
  const { language, say, nowMs } = context;
  return (
    <ul class="rows cells">
      {links.map((link) => (
        <li>
          <input
            {...{ type: "checkbox", name: "code", value: link.code, "aria-label": shownCode(link) }}
            disabled={link.disabled === "deleted"}
          />
          <div>
            <LinkTo code={shownCode(link)} />
          </div>
          <div>
            {link.terms?.title !== undefined && (
              <>
                <bdi>{link.terms.title}</bdi>{" "}
              </>
            )}
            {link.disabled !== "deleted" && <ShortTarget target={link.target} />}
          </div>
          <div>
            <StateChip context={context} link={link} />
          </div>
          <div class="soft">
            <bdi>{link.terms?.owner ?? link.terms?.createdBy ?? say("admin.maker.none.short")}</bdi>
          </div>
          <div class="soft made">{whenAgo(language, (nowMs - link.createdMs) / 1000)}</div>
        </li>
      ))}
    </ul>
  );
}

/** In UTF-16 units. A URL may have thousands, and the window shows fewer. */
const MAX_LISTED_LENGTH = 300;

function ShortTarget({ target }: Pick<InspectedLink, "target">) {
  const address = describeDestination(target).address.slice(0, MAX_LISTED_LENGTH).toWellFormed();
  return (
    <bdi dir="ltr">
      <HostName host={targetHost(target)} />
      <span class="soft">{address.replace(/^\w+:\/\/(?:\[[^\]]*\]|[^/:?#]*)/, "")}</span>
    </bdi>
  );
}

/** Whether a link redirects, or why it doesn't. */
export function StateChip({ context, link }: { context: PageContext; link: InspectedLink | undefined }) {
  const { say, nowMs } = context;
  if (link === undefined || link.disabled === "deleted")
    return <Chip kind="ended">{say("admin.state.deleted")}</Chip>;
  const reason = link.disabled ?? link.blocked;
  if (reason === undefined) {
    const state = operatorStateOf(link, nowMs);
    return <Chip kind={state === "active" ? "works" : "ended"}>{say(`admin.state.${state}`)}</Chip>;
  }
  const key = link.disabled === undefined ? "admin.blocked" : "admin.disabled";
  return <Chip kind="refused">{say(key, { reason: say(`reason.${reason}`) })}</Chip>;
}
