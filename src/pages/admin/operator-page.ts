// Declares the operator's pages. They work without scripts. Each form answers 303, so a reload decides nothing again.
import type { OperatorApiParts, OperatorViewParts } from "../../api/admin/operator-endpoint.ts";
import type { Call, DetachedCall } from "../../http/call.ts";
import { endpoint, type Show, viewEndpoint } from "../../http/endpoint.ts";
import type { Page } from "../../http/page.ts";
import { describe, type HttpProblem } from "../../http/problems.ts";
import { html, KEPT_FOR_BACK } from "../../http/responses.ts";
import { parametersOf } from "../../http/url.ts";
import { type AnyBody, BODIES, cookies, type FieldName, type Fields, parseFields } from "../../lib/bounds.ts";
import type { LinkKey } from "../../links/code.ts";
import type { Actor, Decided, EntryId } from "../../links/link-store.ts";
import type { Secret } from "../../links/secret.ts";
import { message, type MessageKey, sentenceSpace } from "../../locales/messages.ts";
import { entryOf, type Inspection, type ListPage } from "../../moderation/inspection.ts";
import type { ReasonedRequest } from "../../moderation/operator.ts";
import { dateWords, seeOther } from "../forms.ts";
import { operatorCookie, type ServePage, type SignIn } from "../sign-in/handler.ts";
import { type PageContext, type RelatedEntry, withRelated } from "./page-context.ts";

export interface OperatorPageParts extends OperatorApiParts {
  readonly signIn: SignIn;
  /** Makes the manage keys of all domains' links. */
  readonly allKeys: Pick<Secret<LinkKey>, "manageKey">;
}

/** The serving thread passes this to the view of each page. */
export interface PageData {
  readonly formToken: string;
  /** Why the form's request wasn't carried out. */
  readonly problem?: HttpProblem | undefined;
  /** The refused form, to show its text again. */
  readonly sent?: string | undefined;
  /** The decision taken a moment ago, which the page says once. */
  readonly decided?: { readonly entry: EntryId; readonly by: string | undefined };
  /** The name of who is signed in. */
  readonly operator?: string | undefined;
  /** The views thread adds these. */
  readonly openCases?: number;
  readonly nowMs?: number;
  readonly notice?: RelatedEntry | undefined;
}

/** Names the entry of a decision until the next page has said it. */
const DECIDED = "decided";
/** In seconds. */
const NOTICE_S = 60;

/** Entries on one page of a list. */
const LIMIT = 50;

/** Declares a page. Without a session, the sign-in form is in its place. */
export function operatorPage<const Address extends string, Data extends PageData = PageData>(
  at: Address,
  render: (inspection: Inspection) => (call: DetachedCall, data: Data) => Promise<Response>,
  serve: (parts: OperatorPageParts, show: Show<Data>) => ServePage = (_parts, show) => (call, formToken) =>
    (show as Show)(call, { formToken }),
) {
  return viewEndpoint({
    at,
    cost: "little",
    view: {
      isForOperator: true,
      render({ inspection }: OperatorViewParts) {
        const respond = render(inspection);
        return async (call: DetachedCall, data: Data) =>
          respond(call, {
            ...data,
            openCases: await inspection.openCases(),
            nowMs: inspection.nowMs(),
            notice: data.decided === undefined ? undefined : await noticeOf(inspection, data.decided),
          });
      },
    },
    serve: (parts: OperatorPageParts, show: Show<Data>) => parts.signIn.page(serve(parts, showOnce(show))),
  });
}

/** Another site of the domain may set the cookie, so it only names the operator's own decision of a moment ago. */
async function noticeOf(
  inspection: Inspection,
  { entry, by }: NonNullable<PageData["decided"]>,
): Promise<RelatedEntry | undefined> {
  const found = await inspection.decision(entry);
  const isOwn = found?.who === "page" && found.by === by;
  if (!isOwn || found.atMs < inspection.nowMs() - 1000 * NOTICE_S) return undefined;
  return (await withRelated(inspection, [found]))[0];
}

/** Shows a page with the decision taken a moment ago, and then forgets that. */
function showOnce<Data extends PageData>(show: Show<Data>): Show<Data> {
  return (async (call: Call, data: Data) => {
    const [written] = cookies(call.headers, DECIDED);
    if (written === undefined) return (show as Show)(call, { ...data, operator: call.by });
    const response = await (show as Show)(call, {
      ...data,
      operator: call.by,
      decided: { entry: entryOf(written), by: call.by },
    });
    // A page that reloads itself leaves it to the next one.
    if (response.ok && !response.headers.has("refresh"))
      response.headers.append("Set-Cookie", operatorCookie(call, DECIDED, "", 0));
    return response;
  }) as Show<Data>;
}

/** The operator's pages. */
const PAGE = /^\/admin(?:[/?][!-~]*)?$/;

/** A form that one of our own pages sent in the same session. */
export type SentForm = ReturnType<typeof sentForm>;

function sentForm(call: Call, fields: Fields, formToken: string) {
  const textOf = (name: FieldName) => fields.get(name) ?? "";
  const { action, reason } = readChoice(fields);
  const shown = { formToken, operator: call.by, sent: new URLSearchParams([...fields]).toString() };
  return {
    call,
    fields,
    formToken,
    textOf,
    action,
    /** Who decided, in the operator's journal. */
    actor: { who: "page", by: call.by } satisfies Actor,
    decision: { reason, note: textOf("note").trim() } satisfies ReasonedRequest,
    /** The data of a page that shows the form again, to ask for confirmation. */
    asked: (): PageData => shown,
    refused: (problem: HttpProblem): PageData => ({ ...shown, problem }),
    /** Redirects to the page that the form names, or another one, which says once what was decided. */
    decided({ entry }: Decided, otherwise = "/admin"): Response {
      const [path = otherwise] = PAGE.exec(textOf("back")) ?? [];
      const cookie = entry === undefined ? undefined : operatorCookie(call, DECIDED, String(entry), NOTICE_S);
      return seeOther(path, cookie);
    },
  };
}

/** Reads the requested action and its reason. A button with a reason of its own writes it after the action. */
export function readChoice(fields: Fields) {
  const [action = "", reason = fields.get("reason") ?? ""] = (fields.get("action") ?? "").split(":");
  return { action, reason };
}

/** Declares a form. It only acts if one of our own pages sends it, in the same session. */
export function operatorForm<const Address extends keyof typeof BODIES>(
  at: Address,
  serve: (parts: OperatorPageParts) => (form: SentForm) => Promise<Response>,
) {
  const bounds: AnyBody = BODIES[at];
  return endpoint({
    at,
    cost: "little",
    changesLinks: true,
    serve(parts: OperatorPageParts) {
      const act = serve(parts);
      return parts.signIn.form(bounds, (...sent) => act(sentForm(...sent)));
    },
  });
}

/** Renders a page, with the problem if there is one. */
export function renderPage(
  call: DetachedCall,
  { formToken, problem, operator, openCases = 0, nowMs = 0, sent = "", notice }: PageData,
  show: (context: PageContext) => Page,
  more: Readonly<Record<string, string>> = {},
): Response {
  const { status, messages, headers } =
    problem === undefined ? { status: 200, messages: [], headers: {} } : describe(problem);
  const fields = parseFields(sent);
  const words: Readonly<Partial<Record<MessageKey, MessageKey>>> = dateWords(fields.get("zone") ?? "");
  const hasChanged = problem?.kind === "precondition.failed";
  const query = Object.fromEntries(parametersOf(call.request));
  const common = { formToken, operator, query, openCases, nowMs, sent: fields, notice, hasChanged };
  return html(
    call,
    status,
    (language) => {
      const say: PageContext["say"] = (key, values) => message(language, key, values);
      const texts = hasChanged
        ? [say("admin.changed")]
        : messages.map(({ key, values }) => say(words[key] ?? key, values));
      return show({ ...common, language, say, refusal: texts.join(sentenceSpace(language)) || undefined });
    },
    { ...headers, ...(problem !== undefined && KEPT_FOR_BACK), ...more },
  );
}

/** The requested page of a list. */
export function listPageOf(call: DetachedCall): ListPage {
  return { cursor: parametersOf(call.request).get("cursor") || undefined, limit: LIMIT };
}
