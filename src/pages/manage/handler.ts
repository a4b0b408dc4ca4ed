import type { ApiViewParts } from "../../api/api-parts.ts";
import type { DetachedCall, Call } from "../../http/call.ts";
import { isFromAnotherSite } from "../../http/credentials.ts";
import { type Show, viewEndpoint } from "../../http/endpoint.ts";
import { LINK_FIELDS } from "../../http/field-names.ts";
import { createManagedLinks, type OpenedLink } from "../../http/managed-links.ts";
import { describe, type HttpProblem, malformed, asProblem } from "../../http/problems.ts";
import { html } from "../../http/responses.ts";
import { BODIES, type Fields } from "../../lib/bounds.ts";
import { StoreUnavailable } from "../../links/link-store.ts";
import { shownCode } from "../../links/link.ts";
import { isProblem } from "../../links/problem.ts";
import { message } from "../../locales/messages.ts";
import type { ReadHistory } from "../../moderation/corrections.ts";
import { entryOf } from "../../moderation/inspection.ts";
import type { DecisionEntry } from "../../moderation/moderation-store.ts";
import type { Statistics } from "../../visits/statistics/statistics.ts";
import { dateWords, describeInForm, knownZone, readForm, seeOther } from "../forms.ts";
import type { PageParts } from "../page-parts.ts";
import { answerPageProblem } from "../problem/answer.ts";
import { targetChangeOf } from "../shared/link-facts.tsx";
import { MANAGE_FIELDS, type ManageForm } from "./form.ts";
import { keyPage } from "./key-page.tsx";
import { managePage } from "./page.tsx";
import { readChange, submittedValues, textOf } from "./submitted-change.ts";

const DONE: ReadonlyMap<string | null, FormView["done"]> = new Map([
  ["change", "link.changed"],
  ["withdraw", "link.ended"],
  ["hand-over", "link.changed"],
  ["bring-back", "link.changed"],
]);

/** The data for the view of a form. */
interface FormView {
  readonly problem?: HttpProblem;
  readonly done?: "link.changed" | "link.ended" | undefined;
  readonly values?: ManageForm["values"];
  /** Set if the key or the name was right. `key` is "" for a name. */
  readonly unlocked?: Pick<OpenedLink, "link" | "right"> & Pick<ManageForm, "key" | "formToken">;
}

type ManagePageParts = Pick<PageParts, "edits" | "pathsNeedName" | "codeHoldMs"> &
  Pick<ApiViewParts, "clock" | "createUserHeader">;
type ManageViewParts = ManagePageParts & Pick<ApiViewParts, "visits"> & { readonly history: ReadHistory };

/** The form for a link's manage key. People whom the proxy names see their own links without one. */
export const showKeyForm = viewEndpoint({
  at: "GET /{code}+manage",
  cost: "work",
  view: { parameters: ["language"], render: renderManagePage },
  serve: (parts: PageParts, show: Show<FormView | undefined>) => {
    const { open } = createManagedLinks(parts);
    return async (call: Call) => {
      // All others share one view.
      if (typeof parts.rights.personOf(call) !== "string") return show(call);
      const opened = await open(call, "");
      if (isProblem(opened) || opened.person === undefined) return show(call);
      const { link, right, person } = opened;
      const formToken = parts.rights.formTokenOf(person);
      return show(call, { unlocked: { link, right, key: "", formToken } });
    };
  },
});

/** The forms: the key, and the changes. The key is in no address and no cookie. */
export const manageLink = viewEndpoint({
  at: "POST /{code}+manage",
  cost: "work",
  changesLinks: true,
  view: { parameters: ["language"], render: renderManagePage },
  serve: serveForms,
});

const LAST_DAYS = { interval: "day", timeZone: "UTC" } as const;

function renderManagePage({ visits, history, ...parts }: ManageViewParts) {
  return async (call: DetachedCall, view: FormView = {}): Promise<Response> => {
    const { link, formToken } = view.unlocked ?? {};
    // Without the store, the page still reports the result of the change.
    const statistics = link && (await visits.statistics(link, LAST_DAYS, "maker").catch(orNothing));
    const changes = link && formToken !== undefined ? await history(link).catch(orNothing) : undefined;
    return renderPage(parts, call, view, isProblem(statistics) ? undefined : statistics, changes);
  };
}

function renderPage(
  { clock, edits, pathsNeedName, codeHoldMs, createUserHeader }: ManagePageParts,
  call: DetachedCall,
  { problem, done, values, unlocked }: FormView,
  statistics: Statistics | undefined,
  history: readonly DecisionEntry[] = [],
): Response {
  const { status, headers } =
    problem === undefined ? { status: 200, headers: {} } : describe(problem, LINK_FIELDS);
  if (unlocked === undefined)
    return html(
      call,
      status,
      (language) =>
        keyPage(language, {
          baseUrl: call.domain.baseUrl,
          code: call.code,
          error: problem && describeKeyProblem(problem, language),
        }),
      headers,
    );
  const { link, key, right, formToken } = unlocked;
  const nowMs = clock.nowMs();
  const zone = values?.zone ?? "";
  const shownValues = values && { ...values, zone: knownZone(zone) };
  const hasPeople = createUserHeader !== null;
  const rules = { edits, pathsNeedName, codeHoldMs, hasPeople };
  const shown = { link, key, right, formToken, nowMs, ...rules, values: shownValues, statistics, history };
  return html(
    call,
    status,
    (language) =>
      managePage(language, {
        ...shown,
        shortUrl: call.domain.shownUrl(shownCode(link)),
        changed: targetChangeOf(link, nowMs),
        done: done && message(language, done),
        ...(problem === undefined ? { errors: {} } : describeProblem(problem, zone, language)),
      }),
    headers,
  );
}

function serveForms(parts: PageParts, show: Show<FormView | undefined>) {
  const { links, rights, bringBack, onFault } = parts;
  const { open, edit } = createManagedLinks(parts);

  async function act(call: Call, opened: OpenedLink, fields: Fields) {
    const { link } = opened;
    try {
      switch (fields.get("act") ?? "") {
        case "change": {
          const request = readChange(fields, link);
          return isProblem(request) ? request : await edit(call, opened, request);
        }
        case "withdraw":
          if (opened.right !== "maker") return { kind: "owner.other" } as const;
          return fields.has("sure")
            ? await links.withdraw(link)
            : malformed({ rule: "field.required", field: "sure" });
        case "hand-over":
          return await edit(call, opened, { owner: textOf(fields, "owner") });
        case "bring-back": {
          const undone = await bringBack(opened, entryOf(fields.get("entry") ?? ""));
          if (isProblem(undone)) return undone;
          const now = await links.find(call.code, "maker");
          return isProblem(now) ? link : now;
        }
        default:
          return link;
      }
    } catch (error) {
      // The response is the form, so that nobody has to type it again.
      onFault(error);
      return asProblem(error);
    }
  }

  return async (call: Call): Promise<Response> => {
    const fields = await readForm(call.request, BODIES[manageLink.at]);
    if (isProblem(fields)) return show(call, { problem: fields });
    if (isFromAnotherSite(call)) return show(call, { problem: { kind: "cross-site" } });
    const key = keyIn(fields.get("key") ?? "");
    const opened = await open(call, key);
    if (isProblem(opened)) {
      const { kind } = opened;
      if (kind === "unknown" || kind === "disabled" || kind === "limited")
        return answerPageProblem(call, opened);
      const isMissing = kind === "key.missing";
      return show(call, {
        problem: isMissing ? malformed({ rule: "field.required", field: "key" }) : opened,
      });
    }
    const { link, person } = opened;
    const formToken = person === undefined ? undefined : rights.formTokenOf(person);
    const hasKey = rights.rightOf(link, key, undefined) !== undefined;
    const isOurForm = fields.get("form") === formToken;
    if (!hasKey && fields.has("act") && !isOurForm) return show(call, { problem: { kind: "cross-site" } });
    // With a key, anybody's form may change the link, but not in the name of the person who sends it.
    const after = await act(call, isOurForm ? opened : { ...opened, person: undefined }, fields);
    if (isProblem(after))
      return show(call, {
        problem: after,
        // A form with earlier values would undo the other change.
        values: after.kind === "precondition.failed" ? undefined : submittedValues(fields),
        unlocked: { link, key, right: opened.right, formToken },
      });
    // The former owner may have lost the right to change it.
    const right = rights.rightOf(after, key, person);
    if (right === undefined) return seeOther(`/${encodeURIComponent(shownCode(link))}+`);
    const view = {
      done: DONE.get(fields.get("act")),
      unlocked: { link: { ...link, ...after, disabled: link.disabled }, key, right, formToken },
    };
    const response = await show(call, view);
    // With a full queue of views, the page still reports that the link has changed.
    return view.done !== undefined && response.status >= 500
      ? renderPage(parts, call, view, undefined)
      : response;
  };
}

function orNothing(error: unknown): undefined {
  if (!(error instanceof StoreUnavailable)) throw error;
}

/** In words for people, not for API clients. */
function describeKeyProblem(problem: HttpProblem, language: string): string | undefined {
  if (problem.kind === "malformed" && problem.refusals.some(({ rule }) => rule === "field.required"))
    return message(language, "manage.key.missing");
  return describeInForm(problem, [], language).notice;
}

function describeProblem(problem: HttpProblem, zone: string, language: string) {
  const words = { ...dateWords(zone), "precondition.failed": "manage.conflict" } as const;
  const description = describeInForm(problem, MANAGE_FIELDS, language, LINK_FIELDS, words);
  if (description.errors.sure === undefined) return description;
  return { errors: { ...description.errors, sure: message(language, "manage.sure.missing") } };
}

/** The key in a pasted text, which may be the whole manage link. */
function keyIn(pasted: string): string {
  return pasted.trim().replace(/^.*#key=/s, "");
}
