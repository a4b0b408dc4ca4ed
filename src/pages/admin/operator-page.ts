// Declares the operator's pages. They work without scripts. Each form answers 303, so a reload decides nothing again.
import type { OperatorApiParts, OperatorViewParts } from "../../api/admin/endpoint.ts";
import type { Call, DetachedCall } from "../../http/call.ts";
import { endpoint, type Show, viewEndpoint } from "../../http/endpoint.ts";
import type { Page } from "../../http/page.ts";
import { describe, type HttpProblem } from "../../http/problems.ts";
import { html } from "../../http/responses.ts";
import { parametersOf } from "../../http/url.ts";
import { type AnyBody, BODIES, type FieldName, type Fields } from "../../lib/bounds.ts";
import type { LinkKey } from "../../links/code.ts";
import type { StoredLink } from "../../links/link.ts";
import type { Secret } from "../../links/secret.ts";
import type { Actor } from "../../links/store.ts";
import { message, sentenceSpace } from "../../locales/messages.ts";
import type { HostRules } from "../../moderation/host-rules.ts";
import type { Inspection, ListPage } from "../../moderation/inspection.ts";
import { type ReasonedRequest, requireSeen } from "../../moderation/operator.ts";
import type { ServeForm, ServePage, SignIn } from "../sign-in/handler.ts";
import { LAST_ANSWER_FIELDS, type PageContext } from "./frame.tsx";

export interface OperatorPageParts extends OperatorApiParts {
  readonly signIn: SignIn;
  readonly hostRules: Pick<HostRules, "ruleFor">;
  /** Makes the manage keys of all domains' links. */
  readonly allKeys: Pick<Secret<LinkKey>, "manageKey">;
}

/** The serving thread passes this to the view of each page. */
export interface PageData {
  readonly formToken: string;
  /** Why the form's request wasn't carried out. */
  readonly problem?: HttpProblem | undefined;
  /** Counted on the views thread. */
  readonly openCases?: number;
  /** The text in a refused form. */
  readonly typed?: string | undefined;
}

/** Who decided, in the operator's journal. */
export function actorOf({ by }: Call): Actor {
  return { who: "page", by };
}
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
          respond(call, { ...data, openCases: await inspection.openCases() });
      },
    },
    serve: (parts: OperatorPageParts, show: Show<Data>) => parts.signIn.page(serve(parts, show)),
  });
}

/** Declares a form. It only acts if one of our own pages sends it, in the same session. */
export function operatorForm<const Address extends keyof typeof BODIES>(
  at: Address,
  serve: (parts: OperatorPageParts) => ServeForm,
) {
  const bounds: AnyBody = BODIES[at];
  return endpoint({
    at,
    cost: "little",
    changesLinks: true,
    serve: (parts: OperatorPageParts) => parts.signIn.form(bounds, serve(parts)),
  });
}

/** Renders a page, with the problem if there is one. */
export function renderPage(
  call: DetachedCall,
  { formToken, problem, openCases = 0 }: PageData,
  show: (context: PageContext, refusal: string | undefined) => Page,
  more: Readonly<Record<string, string>> = {},
): Response {
  const { status, messages, headers } =
    problem === undefined ? { status: 200, messages: [], headers: {} } : describe(problem);
  const describeProblem = (language: string) =>
    problem?.kind === "precondition.failed"
      ? message(language, "admin.changed")
      : messages.map(({ key, values }) => message(language, key, values)).join(sentenceSpace(language));
  // The confirmation is for the first visit only.
  const once: readonly string[] = ["done", "undoes", ...LAST_ANSWER_FIELDS];
  const query = Object.fromEntries([...parametersOf(call.request)].filter(([name]) => !once.includes(name)));
  return html(
    call,
    status,
    (language) => show({ language, formToken, query, openCases }, describeProblem(language) || undefined),
    { ...headers, ...more },
  );
}

/** The requested page of a list. */
export function listPageOf(call: DetachedCall): ListPage {
  return { cursor: queryValue(call, "cursor") || undefined, limit: LIMIT };
}

export function queryValue({ request }: DetachedCall, name: FieldName): string {
  return parametersOf(request).get(name) ?? "";
}

/** Returns the link if it still is as the form's page showed it. */
export function seenBy(link: StoredLink, fields: Fields) {
  return requireSeen(link, [fields.get("seen") ?? ""]);
}

export function decisionOf(fields: Fields): ReasonedRequest {
  return { reason: fields.get("reason") ?? "", note: (fields.get("note") ?? "").trim() };
}
