import type { DetachedCall, Call } from "../../http/call.ts";
import { LINK_FIELDS } from "../../http/field-names.ts";
import { createLinkManager, type LinkManagerOptions } from "../../http/link-manager.ts";
import {
  describe,
  type HttpProblem,
  malformed,
  type Malformed,
  problemAnswer,
  problemOf,
} from "../../http/problems.ts";
import { html } from "../../http/responses.ts";
import type { Views } from "../../http/views.ts";
import type { Clock } from "../../links/clock.ts";
import type { EditRequest, Edits } from "../../links/edit.ts";
import type { FoundLink } from "../../links/link.ts";
import type { Links } from "../../links/links.ts";
import { type Invalid, invalid, isProblem } from "../../links/problem.ts";
import { StoreUnavailable } from "../../links/store.ts";
import { MAX_TARGET_LENGTH } from "../../links/target.ts";
import { type Duration } from "../../links/time.ts";
import { DURATIONS } from "../../links/time.ts";
import { message } from "../../locales/messages.ts";
import type { Counts } from "../../visits/visits.ts";
import { DATE_WORDS, instantOf, isFromAnotherSite, readFields, describeInForm } from "../forms.ts";
import { targetChangeOf } from "../shared/link-facts.tsx";
import { MANAGE_FIELDS, type ManageForm } from "./fields.tsx";
import { keyPage, managePage, managePath } from "./page.tsx";

const DONE: ReadonlyMap<string | null, FormView["done"]> = new Map([
  ["change", "link.changed"],
  ["withdraw", "link.ended"],
]);

/** The data for the view of a form. */
interface FormView {
  readonly problem?: HttpProblem;
  readonly done?: "link.changed" | "link.ended" | undefined;
  readonly sent?: ManageForm["sent"];
  /** Set if the key was right. */
  readonly unlocked?: { readonly link: FoundLink; readonly key: string };
}

export interface ManageViewsOptions {
  readonly visits: Pick<Counts, "statistics">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly edits: Edits;
  readonly codeHoldMs: number;
}

/** The form for a link's manage key, and the forms that change the link. */
export function createManageViews({ visits, clock, edits, codeHoldMs }: ManageViewsOptions) {
  return {
    async manage(call: DetachedCall, data: string): Promise<Response> {
      const { problem, done, sent, unlocked }: FormView = data === "" ? {} : (JSON.parse(data) as FormView);
      const { status, headers } =
        problem === undefined ? { status: 200, headers: {} } : describe(problem, LINK_FIELDS);
      if (unlocked === undefined)
        return html(
          call,
          status,
          (language) =>
            keyPage(language, {
              path: managePath(call.code),
              error: problem && describeKeyProblem(problem, language),
            }),
          headers,
        );
      const { link, key } = unlocked;
      const nowMs = clock.nowMs();
      const lastDays = { interval: "day", timeZone: "UTC" } as const;
      // Without the store, the page still reports the result of the change.
      const statistics = await visits.statistics(link, lastDays, "maker").catch(orNothing);
      const shown = { link, key, nowMs, edits, codeHoldMs, sent };
      return html(
        call,
        status,
        (language) =>
          managePage(language, {
            ...shown,
            shortUrl: call.domain.shortUrl(link.code),
            changed: targetChangeOf(link, nowMs),
            statistics: isProblem(statistics) ? undefined : statistics,
            done: done && message(language, done),
            ...(problem === undefined ? { errors: {} } : describeProblem(problem, language)),
          }),
        headers,
      );
    },
  };
}

export interface ManagePagesOptions extends LinkManagerOptions {
  readonly links: LinkManagerOptions["links"] & Pick<Links, "withdraw">;
  readonly views: Pick<Views, "ask">;
  readonly onFault: (error: unknown) => void;
}

/** Handles the forms: the key and the change. The key is in no address and no cookie. */
export function createManagePages(options: ManagePagesOptions) {
  const { links, views, onFault } = options;
  const { unlock, edit } = createLinkManager(options);

  const show = (call: Call, shown: FormView) => views.ask("manage", call, JSON.stringify(shown));

  async function act(call: Call, link: FoundLink, sent: URLSearchParams) {
    try {
      switch (sent.get("act") ?? "") {
        case "change": {
          const request = readChange(sent, link);
          return isProblem(request) ? request : await edit(call, link, request);
        }
        case "withdraw":
          return sent.has("sure")
            ? await links.withdraw(link)
            : malformed({ rule: "field.required", field: "sure" });
        default:
          return link;
      }
    } catch (error) {
      // The response is the form, so that nobody has to type it again.
      onFault(error);
      return problemOf(error);
    }
  }

  return {
    async manage(call: Call): Promise<Response> {
      call.client();
      const sent = await readFields(call.request);
      if (isProblem(sent)) return show(call, { problem: sent });
      if (isFromAnotherSite(call)) return show(call, { problem: { kind: "cross-site" } });
      const key = keyIn(sent.get("key") ?? "");
      if (key === "") return show(call, { problem: malformed({ rule: "field.required", field: "key" }) });
      const link = await unlock(call, key);
      if (isProblem(link)) {
        const { kind } = link;
        return kind === "unknown" || kind === "disabled" || kind === "limited"
          ? problemAnswer(call, link)
          : show(call, { problem: link });
      }
      const after = await act(call, link, sent);
      if (isProblem(after))
        return show(call, { problem: after, sent: submittedValues(sent), unlocked: { link, key } });
      return show(call, {
        done: DONE.get(sent.get("act")),
        unlocked: { link: { ...link, ...after, disabled: link.disabled }, key },
      });
    },
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

function describeProblem(problem: HttpProblem, language: string) {
  const description = describeInForm(problem, MANAGE_FIELDS, language, LINK_FIELDS, DATE_WORDS);
  if (description.errors.sure === undefined) return description;
  return { errors: { ...description.errors, sure: message(language, "manage.sure.missing") } };
}

/** In UTF-16 units, for a number, a date or a choice. */
const MAX_SHOWN = 64;

const ENDS = new Map<string, Duration | "never">([
  ...DURATIONS.map((duration) => [duration, duration] as const),
  ["never", "never"],
]);
const STARTS = new Map([["now", null]]);

/** The key in a pasted text, which may be the whole manage address. */
function keyIn(pasted: string): string {
  return pasted.trim().replace(/^.*#key=/s, "");
}

/** The changes in a form. The domain checks everything that can be parsed. */
function readChange(sent: URLSearchParams, link: FoundLink): EditRequest | Malformed | Invalid {
  const originalUrl = sent.has("target") ? textOf(sent, "target") : link.originalUrl;
  const starts = readWhen(sent, "starts", STARTS);
  const expiry = readWhen(sent, "expires", ENDS);
  if (isProblem(starts)) return starts;
  if (isProblem(expiry)) return expiry;
  return {
    originalUrl: originalUrl === link.originalUrl ? undefined : originalUrl,
    expiry,
    starts,
    maxVisits: sent.has("max_visits") ? readNumber(textOf(sent, "max_visits")) : undefined,
    password: sent.get("password") || (sent.has("remove") ? null : undefined),
  };
}

/** One of the values, a date in the zone of the form, or undefined for no change. */
function readWhen<Value>(
  sent: URLSearchParams,
  field: "expires" | "starts",
  values: ReadonlyMap<string, Value>,
): Value | number | undefined | Malformed | Invalid {
  const chosen = textOf(sent, field);
  if (chosen === "") return undefined;
  if (chosen === "date")
    return (
      instantOf(textOf(sent, `${field}_date`), textOf(sent, "zone")) ?? invalid({ rule: `${field}.format` })
    );
  if (values.has(chosen)) return values.get(chosen);
  return malformed({ rule: "field.values", field, values: [...values.keys(), "date"].join(", ") });
}

function textOf(sent: URLSearchParams, field: string): string {
  return (sent.get(field) ?? "").trim();
}

/** Null if empty, NaN if not a number, which the domain refuses. */
function readNumber(written: string): number | null {
  if (written === "") return null;
  return /^\d+$/.test(written) ? Number(written) : Number.NaN;
}

/** The values that the fields show again, without the password. */
function submittedValues(sent: URLSearchParams): ManageForm["sent"] {
  const shown = (field: string, max = MAX_SHOWN) => (sent.get(field) ?? "").slice(0, max);
  return {
    target: shown("target", MAX_TARGET_LENGTH + 1),
    starts: shown("starts"),
    starts_date: shown("starts_date"),
    expires: shown("expires"),
    expires_date: shown("expires_date"),
    zone: shown("zone"),
    max_visits: shown("max_visits"),
  };
}
