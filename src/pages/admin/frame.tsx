/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import type { MessageKey } from "../../locales/messages.ts";
import { MAX_COUNTED_CASES } from "../../moderation/case.ts";
import { Notice, VERBATIM } from "../shared/form-fields.tsx";
import type { Child, Html } from "../shared/html/jsx-runtime.ts";
import { page } from "../shared/layout.tsx";
import { Menu } from "../shared/menu.tsx";
import { withQuery } from "../shared/with-query.ts";
import { Form } from "./decision-form.tsx";
import { EntryLine, Undo } from "./entries.tsx";
import { deskPath, Given } from "./link-to.tsx";
import type { PageContext } from "./page-context.ts";

const PAGES = {
  cases: "/admin",
  links: "/admin/links",
  hosts: "/admin/hosts",
  journal: "/admin/journal",
  figures: "/admin/figures",
} as const;
type Current = keyof typeof PAGES;

interface Around {
  /** In one line with the title. */
  readonly summary?: Child;
  /** At the end of that line, unless the page reports a decision there. */
  readonly beside?: Child;
  /** Above the title. */
  readonly above?: Child;
  /** The page's own address. */
  readonly path?: string;
  /** Whether only screen readers get the title, because the content shows it. */
  readonly isHidden?: boolean;
  /** Whether the content says why a form was refused. */
  readonly hasAlert?: boolean;
}

/** A page for the operator. `current` is the page's tab. */
export function adminPage(
  context: PageContext,
  current: Current,
  title: Child,
  content: Html,
  { summary, beside, above, path = PAGES[current], isHidden, hasAlert }: Around = {},
): Page {
  const { language, say, query, refusal, notice } = context;
  const name = say(`admin.${current}`);
  const open = writeOpenCases(context);
  // After an undo, the desk shows the case that is open again.
  const back =
    current === "cases" && notice?.code !== undefined ? deskPath(notice.code) : withQuery(path, query);
  return page(
    language,
    {
      title: open === "" ? name : `(${open}) ${name}`,
      query,
      bar: <Bar context={context} current={current} />,
    },
    <div class="admin wide">
      {above}
      {isHidden === true && <h1 class="unseen">{title}</h1>}
      {(isHidden !== true || notice !== undefined) && (
        <div class="title-row">
          {isHidden !== true && <h1>{title}</h1>}
          <span class="soft">{summary}</span>
          {notice === undefined ? (
            beside
          ) : (
            <div class="notice" role="status">
              <p>
                <EntryLine context={context} entry={notice} />
              </p>
              <Undo context={context} entry={notice} back={back} kind="" hasKey />
            </div>
          )}
        </div>
      )}
      {hasAlert !== true && <Notice text={refusal} />}
      {content}
    </div>,
  );
}

/** "" if there is none. */
function writeOpenCases({ openCases }: PageContext): string {
  if (openCases === 0) return "";
  return openCases < MAX_COUNTED_CASES ? String(openCases) : `${MAX_COUNTED_CASES - 1}+`;
}

function Bar({ context, current }: { context: PageContext; current: Current }) {
  const { say, operator = say("admin.title") } = context;
  const open = writeOpenCases(context);
  return (
    <>
      <nav class="tabs" aria-label={say("admin.title")}>
        {Object.entries(PAGES).map(([key, href]) => (
          <a href={href} {...(key === current && { "aria-current": "page" })}>
            {say(`admin.${key as Current}`)}
            {key === "cases" && open !== "" && [" ", <span class="count">{open}</span>]}
          </a>
        ))}
      </nav>
      {current !== "links" && <Search context={{ ...context, query: {} }} />}
      <Menu id="session" kind="quiet opens" label={operator} sign={<Given text={operator} />}>
        <Form context={context} action="/admin/sign-out">
          <button>{say("admin.sign-out")}</button>
        </Form>
      </Menu>
    </>
  );
}

/** Finds links. */
export function Search({ context: { say, query }, children }: { context: PageContext; children?: Child }) {
  const label = say("admin.q");
  return (
    <form action="/admin/links" role="search">
      <input
        {...{ type: "search", name: "q", value: query["q"] || query["host"] || "" }}
        {...{ placeholder: label, "aria-label": label, "aria-keyshortcuts": "/", ...VERBATIM }}
      />
      {children}
    </form>
  );
}

interface EmptyProps {
  readonly context: PageContext;
  readonly texts: readonly MessageKey[];
}

/** Says that a list is empty. */
export function Empty({ context: { say }, texts }: EmptyProps) {
  return (
    <div class="waiting">
      {texts.map((text) => (
        <p>{say(text)}</p>
      ))}
    </div>
  );
}

interface MoreProps {
  readonly context: PageContext;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

export function More({ context: { say }, path, query }: MoreProps) {
  return (
    <p>
      <a class="button" href={withQuery(path, query)}>
        {say("admin.more")}
      </a>
    </p>
  );
}
