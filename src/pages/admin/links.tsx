/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import { message, type MessageKey } from "../../locales/messages.ts";
import type { InspectedLink } from "../../moderation/inspection.ts";
import { operatorStateOf, type WrittenSearch } from "../../moderation/search.ts";
import { describeDestination } from "../shared/destination-parts.ts";
import { Notice } from "../shared/fields.tsx";
import { Instant } from "../shared/instant.tsx";
import { Fact } from "../shared/link-facts.tsx";
import {
  Beginning,
  Decide,
  Form,
  adminPage,
  Given,
  LinkTo,
  More,
  type PageContext,
  withQuery,
} from "./frame.tsx";

const SEARCH_LABELS = {
  q: "admin.q",
  host: "admin.q.host",
} as const satisfies Record<keyof WrittenSearch, MessageKey>;

export interface Links {
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
}

export function linksPage(context: PageContext, found: Links): Page {
  const { language } = context;
  const { search, links, cursor, searched, refusal, done } = found;
  const say = (key: Parameters<typeof message>[1]) => message(language, key);
  const query = filledFields(search);
  const isSearch = Object.keys(query).length > 0;
  const percent = new Intl.NumberFormat(language, { style: "percent", roundingMode: "floor" });
  return adminPage(
    context,
    "links",
    say("admin.links"),
    <>
      {done !== undefined && <p role="status">{message(language, "admin.done", { count: done })}</p>}
      <Notice text={refusal} />
      {refusal === undefined && links.length === 0 && cursor === undefined && (
        <p>{say("admin.links.none")}</p>
      )}
      <LinkRows language={language} links={links} nowMs={found.nowMs} />
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
    <ul class="rows">
      {links.map((link) => (
        <li>
          <div>
            <LinkTo code={link.code} />
          </div>
          <div>
            <Beginning text={describeDestination(link.target).address} />
          </div>
          <div class="soft">
            {stateInWords(language, link, nowMs)} · <Instant language={language} ms={link.createdMs} />
          </div>
        </li>
      ))}
    </ul>
  );
}

export function stateInWords(language: string, link: InspectedLink, nowMs: number): string {
  const reason = link.disabled === "deleted" ? undefined : (link.disabled ?? link.blocked);
  if (reason === undefined) return message(language, `admin.state.${operatorStateOf(link, nowMs)}`);
  const key = link.disabled === undefined ? "admin.blocked" : "admin.disabled";
  return message(language, key, { reason: message(language, `reason.${reason}`) });
}

export type FoundAction = "disable" | "enable";

export interface Found {
  readonly action: FoundAction;
  readonly search: WrittenSearch;
  readonly count: number;
  /** The hosts of most of these links. */
  readonly hosts: readonly (readonly [host: string, links: number])[];
  readonly refusal: string | undefined;
}

/** Shows how many links a search finds, and asks before changing them. */
export function foundPage(context: PageContext, { action, search, count, hosts, refusal }: Found): Page {
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
                    <input type="checkbox" name="block" value={host} /> <Given text={host} />
                  </label>
                ) : (
                  <Given text={host} />
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
