/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import { type Reason, REASONS } from "../../links/reasons.ts";
import { message, type MessageKey } from "../../locales/messages.ts";
import { MAX_COUNTED_CASES, MAX_NOTE_LENGTH } from "../../moderation/case.ts";
import type { Action } from "../../moderation/store.ts";
import { VERBATIM } from "../shared/fields.tsx";
import type { Child, Html } from "../shared/html/jsx-runtime.ts";
import { page } from "../shared/layout.tsx";

/** The part of a request that every page for the operator needs. */
export interface PageContext {
  readonly language: string;
  readonly formToken: string;
  readonly query: Readonly<Record<string, string>>;
  /** Up to {@link MAX_COUNTED_CASES}. */
  readonly openCases: number;
}

/** Fields of the last answer, in the query of the reports and in its form. */
export const LAST_ANSWER_FIELDS = ["did", "code", "was", "seen", "block"] as const;

const PAGES = {
  cases: "/admin",
  figures: "/admin/figures",
  links: "/admin/links",
  hosts: "/admin/hosts",
  journal: "/admin/journal",
} as const;
type Current = keyof typeof PAGES;

/** A page for the operator. `current` is the page's tab, and `beside` stands at the end of the title's line. */
export function adminPage(
  context: PageContext,
  current: Current,
  title: Child,
  content: Html,
  beside?: Child,
): Page {
  const { language, query, openCases } = context;
  const name = message(language, `admin.${current}`);
  const search = message(language, "admin.q");
  const open = openCases < MAX_COUNTED_CASES ? String(openCases) : `${MAX_COUNTED_CASES - 1}+`;
  return page(
    language,
    { title: openCases === 0 ? name : `(${open}) ${name}`, query },
    <div class="admin">
      <div class="desk ranges">
        <nav aria-label={message(language, "admin.title")}>
          {Object.entries(PAGES).map(([key, path]) => (
            <a href={path} {...(key === current && { "aria-current": "page" })}>
              {message(language, `admin.${key as Current}`)}
              {key === "cases" && openCases > 0 && [" ", <span class="count">{open}</span>]}
            </a>
          ))}
        </nav>
        <form action="/admin/links" role="search">
          <input
            {...{ type: "search", name: "q", value: query["q"] || query["host"] || "" }}
            {...{ placeholder: search, "aria-label": search, "aria-keyshortcuts": "/", ...VERBATIM }}
          />
          <button>{message(language, "admin.search")}</button>
        </form>
        <Form context={context} action="/admin/sign-out">
          <button class="plain">{message(language, "admin.sign-out")}</button>
        </Form>
      </div>
      {beside}
      <h1>{title}</h1>
      {content}
    </div>,
  );
}

/** Says that a list is empty. */
export function Empty({ language, texts }: { language: string; texts: readonly MessageKey[] }) {
  return (
    <div class="waiting">
      {texts.map((text) => (
        <p>{message(language, text)}</p>
      ))}
    </div>
  );
}

interface FormProps {
  readonly context: PageContext;
  readonly action: string;
  readonly hidden?: Readonly<Record<string, string>>;
  readonly children?: Child;
}

export function Form({ context, action, hidden = {}, children }: FormProps) {
  return (
    <form method="post" action={action}>
      {Object.entries({ ...hidden, form: context.formToken }).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      {children}
    </form>
  );
}

interface FieldProps {
  readonly label: Child;
  /** Attributes of the input. */
  readonly input: Readonly<Record<string, string | number | boolean | undefined>> & { readonly name: string };
}

export function Field({ label, input }: FieldProps) {
  return (
    <label>
      <span>{label}</span>
      <input {...{ type: "text", value: "", ...VERBATIM, ...input }} />
    </label>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly name: string;
  readonly value?: string | undefined;
  /** The values and their names. */
  readonly options: readonly (readonly [string, string])[];
  /** Whether the user must choose a value other than "". */
  readonly isRequired?: boolean;
}

export function Choice({ label, name, value, options, isRequired = false }: ChoiceProps) {
  return (
    <label>
      <span>{label}</span>
      <select name={name} required={isRequired}>
        {options.map(([option, text]) => (
          <option value={option} selected={option === value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

interface ReasonAndNoteProps {
  readonly language: string;
  /** Undefined: the decision has no reason. "": the operator has to choose one, because a preset one is seldom right. */
  readonly reason?: Reason | "" | undefined;
}

export function ReasonAndNote({ language, reason: selected }: ReasonAndNoteProps) {
  const reasons = REASONS.map((reason) => [reason, message(language, `reason.${reason}`)] as const);
  const none = ["", message(language, "admin.reason.choose")] as const;
  return (
    <>
      {selected !== undefined && (
        <Choice
          label={message(language, "admin.reason")}
          name="reason"
          value={selected}
          options={selected === "" ? [none, ...reasons] : reasons}
          isRequired
        />
      )}
      <Field label={message(language, "admin.note")} input={{ name: "note", maxlength: MAX_NOTE_LENGTH }} />
    </>
  );
}

interface DecideProps {
  readonly language: string;
  readonly action: Exclude<Action, "nothing-wrong" | "reopen">;
  readonly reason?: ReasonAndNoteProps["reason"];
}

/** The end of a form that decides something: reason, note and button. */
export function Decide({ language, action, reason }: DecideProps) {
  return (
    <>
      <ReasonAndNote language={language} reason={reason} />
      <button>{message(language, `admin.do.${action}`)}</button>
    </>
  );
}

/** Text from outside: isolated, whatever its direction, and never a link. */
export function Given({ text }: { text: string }) {
  return <bdi dir="auto">{text}</bdi>;
}

export function LinkTo({ code }: { code: string }) {
  return (
    <a href={linkPath(code)}>
      <Given text={code} />
    </a>
  );
}

export function linkPath(code: string): string {
  return `/admin/links/${encodeURIComponent(code)}`;
}

export function withQuery(path: string, query: Readonly<Record<string, string>>): string {
  return `${path}?${new URLSearchParams(query).toString()}`;
}

interface MoreProps {
  readonly language: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

export function More({ language, path, query }: MoreProps) {
  return (
    <p>
      <a class="button" href={withQuery(path, query)}>
        {message(language, "admin.more")}
      </a>
    </p>
  );
}
