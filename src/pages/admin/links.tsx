/** @jsxImportSource ../shared/html */
import { type MessageKey, message } from "../../locales/messages.ts";
import type { InspectedLink } from "../../moderation/inspection.ts";
import { operatorStateOf, type WrittenSearch } from "../../moderation/search.ts";
import { Instant } from "../shared/instant.tsx";
import type { Page } from "../shared/layout.tsx";
import { Beginning, Field, framed, LinkTo, More, type Operator, Refusal, withQuery } from "./frame.tsx";

export const SEARCH_LABELS = {
  q: "admin.q",
  host: "admin.q.host",
} as const satisfies Record<keyof WrittenSearch, MessageKey>;

export interface Links {
  readonly search: WrittenSearch;
  readonly links: readonly InspectedLink[];
  /** Where the search continues; undefined at its end. */
  readonly cursor: string | undefined;
  /** The share of all links that the search has looked at, from 0 to 1. */
  readonly searched: number;
  readonly nowMs: number;
  /** Why the search was refused. */
  readonly refusal?: string | undefined;
  /** How many links were disabled or enabled just now. */
  readonly done?: number | undefined;
}

/** Finds links. */
export function linksPage(operator: Operator, found: Links): Page {
  const { language } = operator;
  const { search, links, cursor, searched, refusal, done } = found;
  const say = (key: Parameters<typeof message>[1]) => message(language, key);
  const wanted = wantedOf(search);
  const isSearch = Object.keys(wanted).length > 0;
  const percent = new Intl.NumberFormat(language, { style: "percent", roundingMode: "floor" });
  return framed(
    operator,
    "links",
    say("admin.links"),
    <>
      {done !== undefined && <p role="status">{message(language, "admin.done", { count: done })}</p>}
      <form action="/admin/links">
        <Field label={say("admin.q")} name="q" value={search.q} />
        <Field label={say("admin.q.host")} name="host" value={search.host} />
        <button class="primary">{say("admin.search")}</button>
      </form>
      <Refusal text={refusal} />
      {refusal === undefined && links.length === 0 && cursor === undefined && (
        <p>{say("admin.links.none")}</p>
      )}
      <LinkRows language={language} links={links} nowMs={found.nowMs} />
      {isSearch && cursor !== undefined && (
        <p role="status">{message(language, "admin.links.searched", { share: percent.format(searched) })}</p>
      )}
      {cursor !== undefined && <More language={language} path="/admin/links" query={{ ...wanted, cursor }} />}
      {isSearch && (links.length > 0 || cursor !== undefined) && (
        <p class="actions">
          {(["disable", "enable"] as const).map((action) => (
            <a class="button" href={withQuery("/admin/found", { ...wanted, action })}>
              {say(`admin.found.${action}`)}
            </a>
          ))}
        </p>
      )}
    </>,
  );
}

/** The fields that are filled in. */
export function wantedOf(search: WrittenSearch): Record<string, string> {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== ""));
}

interface LinkRowsProps {
  readonly language: string;
  readonly links: readonly InspectedLink[];
  readonly nowMs: number;
}

/** Where links lead is text: nobody should end up there by a slip of the hand. */
function LinkRows({ language, links, nowMs }: LinkRowsProps) {
  return (
    <ul class="rows">
      {links.map((link) => (
        <li>
          <div>
            <LinkTo code={link.code} />
          </div>
          <div>
            <Beginning text={link.target} />
          </div>
          <div class="soft">
            {stateInWords(language, link, nowMs)} · <Instant language={language} ms={link.createdMs} />
          </div>
        </li>
      ))}
    </ul>
  );
}

/** What a link does at the moment, in words. */
export function stateInWords(language: string, link: InspectedLink, nowMs: number): string {
  const reason = link.disabled === "deleted" ? undefined : (link.disabled ?? link.blocked);
  if (reason === undefined) return message(language, `admin.state.${operatorStateOf(link, nowMs)}`);
  const key = link.disabled === undefined ? "admin.blocked" : "admin.disabled";
  return message(language, key, { reason: message(language, `reason.${reason}`) });
}
