/** @jsxImportSource hono/jsx */
import { message } from "../../language/messages.ts";
import { type Link, NEVER_MS } from "../../links/link.ts";
import { Instant } from "../instant.tsx";
import { Choice, Field, framed, Given, LinkTo, More, type Operator } from "./frame.tsx";

/** What the operator searches for, as the form has it. Empty fields do not matter. */
export const SEARCH_FIELDS = ["q", "host", "state", "made_from", "made_to"] as const;
export type Search = Readonly<Record<(typeof SEARCH_FIELDS)[number], string>>;
export const NO_SEARCH: Search = { q: "", host: "", state: "", made_from: "", made_to: "" };

export interface Links {
  readonly search: Search;
  readonly links: readonly Link[];
  /** Where the search goes on; undefined at its end. */
  readonly cursor: string | undefined;
  readonly nowMs: number;
  /** Why the search was refused. */
  readonly refusal?: string | undefined;
  /** How many links were disabled or enabled just now. */
  readonly done?: number | undefined;
}

/** Finds links. */
export function linksPage(operator: Operator, found: Links): string {
  const { language } = operator;
  const { search, links, cursor, refusal, done } = found;
  const say = (key: Parameters<typeof message>[1]) => message(language, key);
  const wanted = wantedOf(search);
  const isSearch = Object.keys(wanted).length > 0;
  const states = LINK_STATES.map((state) => [state, say(`admin.state.${state}`)] as const);
  return framed(
    operator,
    "links",
    say("admin.links"),
    <>
      {done !== undefined && <p role="status">{message(language, "admin.done", { count: done })}</p>}
      <form action="/admin/links" class="search">
        <Field label={say("admin.q")} name="q" value={search.q} />
        <Field label={say("admin.q.host")} name="host" value={search.host} />
        <Choice label={say("admin.state")} name="state" value={search.state} options={[["", say("admin.state.any")], ...states]} />
        <Field label={say("admin.made-from")} name="made_from" value={search.made_from} type="date" />
        <Field label={say("admin.made-to")} name="made_to" value={search.made_to} type="date" />
        <button class="primary">{say("admin.search")}</button>
      </form>
      {refusal !== undefined && (
        <p class="error" role="alert">
          {refusal}
        </p>
      )}
      {refusal === undefined && links.length === 0 && (
        <p>{say(cursor === undefined ? "admin.links.none" : "admin.links.none-yet")}</p>
      )}
      <LinkRows language={language} links={links} nowMs={found.nowMs} />
      {cursor !== undefined && <More language={language} path="/admin/links" query={{ ...wanted, cursor }} />}
      {isSearch && links.length > 0 && (
        <p class="actions">
          {(["disable", "enable"] as const).map((action) => (
            <a class="button" href={`/admin/found?${new URLSearchParams({ ...wanted, action })}`}>
              {say(`admin.found.${action}`)}
            </a>
          ))}
        </p>
      )}
    </>,
  );
}

/** The fields that are filled in. */
export function wantedOf(search: Search): Record<string, string> {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== ""));
}

interface LinkRowsProps {
  readonly language: string;
  readonly links: readonly Link[];
  readonly nowMs: number;
}

/** Where links lead is text: nobody should end up there by a slip of the hand. */
export function LinkRows({ language, links, nowMs }: LinkRowsProps) {
  return (
    <ul class="rows">
      {links.map((link) => (
        <li>
          <div>
            <LinkTo code={link.code} />
          </div>
          <div>
            <Given text={link.target} />
          </div>
          <div class="soft">
            {stateOf(language, link, nowMs)} · <Instant language={language} ms={link.createdMs} />
          </div>
        </li>
      ))}
    </ul>
  );
}

/** What a link does at the moment, in words. */
export function stateOf(language: string, { disabled, endsMs }: Link, nowMs: number): string {
  if (disabled === "deleted") return message(language, "admin.state.deleted");
  if (disabled !== undefined)
    return message(language, "admin.disabled", { reason: message(language, `reason.${disabled}`) });
  if (endsMs === NEVER_MS || nowMs < endsMs) return message(language, "admin.state.active");
  return message(language, "admin.state.ended");
}
