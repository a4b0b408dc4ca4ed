/** @jsxImportSource ../shared/html */
import { readSearch, searchLinks } from "../../api/admin/search.ts";
import type { Page } from "../../http/page.ts";
import { isProblem } from "../../links/problem.ts";
import { targetHost } from "../../links/target.ts";
import { message, type MessageKey } from "../../locales/messages.ts";
import { whenAgo } from "../../locales/relative-time.ts";
import type { InspectedLink } from "../../moderation/inspection.ts";
import { operatorStateOf, parseSearch, type WrittenSearch } from "../../moderation/search.ts";
import type { SearchResult } from "../../views/reads.ts";
import { answerProblem } from "../problem/answer.ts";
import { describeDestination } from "../shared/destination-parts.ts";
import { HostName } from "../shared/destination.tsx";
import { Notice } from "../shared/fields.tsx";
import { operatorPage, type PageData, listPageOf, queryValue, renderPage } from "./endpoint.ts";
import { adminPage, Empty, Form, LinkTo, More, type PageContext, withQuery } from "./frame.tsx";

export const SEARCH_LABELS = {
  q: "admin.q",
  host: "admin.q.host",
} as const satisfies Record<keyof WrittenSearch, MessageKey>;

interface Links {
  readonly search: WrittenSearch;
  readonly links: readonly InspectedLink[];
  /** Undefined at the end of the search. */
  readonly cursor: string | undefined;
  /** The share of all links searched, from 0 to 1. */
  readonly searched: number;
  readonly nowMs: number;
  readonly refusal?: string | undefined;
  /** The number of links that were disabled or enabled a moment ago. */
  readonly done?: number | undefined;
  /** When links were disabled a moment ago, to undo that. "" if they weren't. */
  readonly undoes: string;
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
    const [done] = /^\d{1,5}$/.exec(queryValue(call, "done")) ?? [];
    const result = {
      search,
      links,
      cursor,
      searched,
      nowMs: inspection.nowMs(),
      ...(done !== undefined && { done: Number(done) }),
      undoes: queryValue(call, "undoes"),
    };
    const next = withQuery("/admin/links", { ...filledFields(search), cursor: cursor ?? "" });
    return renderPage(
      call,
      { ...data, problem },
      (context, refusal) => linksPage(context, { ...result, refusal }),
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

function linksPage(context: PageContext, view: Links): Page {
  const { language } = context;
  const { search, links, cursor, searched, refusal, done, undoes } = view;
  const say = (key: MessageKey) => message(language, key);
  const query = filledFields(search);
  const isSearch = Object.keys(query).length > 0;
  const percent = new Intl.NumberFormat(language, { style: "percent", roundingMode: "floor" });
  const status = done !== undefined && (
    <p role="status">{message(language, "admin.done", { count: done })}</p>
  );
  return adminPage(
    context,
    "links",
    say("admin.links"),
    <>
      {undoes === "" ? (
        status
      ) : (
        <Form
          context={context}
          action={withQuery("/admin/found", query)}
          hidden={{ action: "enable", undoes }}
        >
          {status}
          <button aria-keyshortcuts="u">{say("admin.undo")}</button>
        </Form>
      )}
      <Notice text={refusal} />
      <LinkRows language={language} links={links} nowMs={view.nowMs} />
      {refusal === undefined && links.length === 0 && cursor === undefined && (
        <Empty language={language} texts={["admin.links.none"]} />
      )}
      {isSearch && cursor !== undefined && (
        <p role="status">{message(language, "admin.links.searched", { share: percent.format(searched) })}</p>
      )}
      {cursor !== undefined && <More language={language} path="/admin/links" query={{ ...query, cursor }} />}
      {isSearch && (links.length > 0 || cursor !== undefined) && (
        <p class="actions">
          {(["disable", "enable"] as const).map((action) => (
            <a class="button" href={withQuery("/admin/found", { ...query, action })}>
              {say(`admin.found.${action}`)}
            </a>
          ))}
        </p>
      )}
    </>,
  );
}

/** The fields that the operator filled in. */
export function filledFields(search: WrittenSearch): Record<string, string> {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== ""));
}

interface LinkRowsProps {
  readonly language: string;
  readonly links: readonly InspectedLink[];
  readonly nowMs: number;
}

/** Destinations are text, so that nobody opens one by accident. */
function LinkRows({ language, links, nowMs }: LinkRowsProps) {
  return (
    <ul class="rows cells">
      {links.map((link) => (
        <li>
          <div>
            <LinkTo code={link.code} />
          </div>
          <div class="soft">{stateInWords(language, link, nowMs)}</div>
          <div>{link.disabled !== "deleted" && <ShortTarget target={link.target} />}</div>
          <div class="soft">{whenAgo(language, (nowMs - link.createdMs) / 1000)}</div>
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

export function stateInWords(language: string, link: InspectedLink, nowMs: number): string {
  const reason = link.disabled === "deleted" ? undefined : (link.disabled ?? link.blocked);
  if (reason === undefined) return message(language, `admin.state.${operatorStateOf(link, nowMs)}`);
  const key = link.disabled === undefined ? "admin.blocked" : "admin.disabled";
  return message(language, key, { reason: message(language, `reason.${reason}`) });
}
