import type { Asked, Call } from "../../http/call.ts";
import { LINK_FIELDS } from "../../http/field-names.ts";
import { createManaging, type ManagingOptions } from "../../http/link-manager.ts";
import { describe, type HttpProblem, malformed, problemAnswer, problemOf } from "../../http/problems.ts";
import { html } from "../../http/responses.ts";
import type { Views } from "../../http/views/views.ts";
import type { Clock } from "../../links/clock.ts";
import type { Edits } from "../../links/edit.ts";
import type { FoundLink } from "../../links/link.ts";
import type { Links } from "../../links/links.ts";
import { isProblem } from "../../links/problem.ts";
import { StoreUnavailable } from "../../links/store.ts";
import { message } from "../../locales/messages.ts";
import type { Counts } from "../../visits/visits.ts";
import { isFromAnotherSite, readFields, tellBeside } from "../shared/form-data.ts";
import { DATE_WORDS } from "../shared/link-form.ts";
import { changedOf } from "../shared/remaining-time.ts";
import { MANAGE_FIELDS, type ManageForm } from "./fields.tsx";
import { keyIn, readChange, shownAgain } from "./form.ts";
import { keyPage, managePage, managePath } from "./page.tsx";

const DONE: ReadonlyMap<string | null, Shown["done"]> = new Map([
  ["change", "link.changed"],
  ["withdraw", "link.ended"],
]);

/** What the view of a form is made of. */
interface Shown {
  readonly problem?: HttpProblem;
  readonly done?: "link.changed" | "link.ended" | undefined;
  readonly sent?: ManageForm["sent"];
  /** Only if the key was right. */
  readonly unlocked?: { readonly link: FoundLink; readonly key: string };
}

export interface ManageViewsOptions {
  readonly visits: Pick<Counts, "statistics">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly edits: Edits;
  readonly codeHoldMs: number;
}

/** The form that asks for a link's manage key, and what can be done with the link. */
export function createManageViews({ visits, clock, edits, codeHoldMs }: ManageViewsOptions) {
  return {
    async manage(call: Asked, data: string): Promise<Response> {
      const { problem, done, sent, unlocked }: Shown = data === "" ? {} : (JSON.parse(data) as Shown);
      const { status, headers } =
        problem === undefined ? { status: 200, headers: {} } : describe(problem, LINK_FIELDS);
      if (unlocked === undefined)
        return html(
          call,
          status,
          (language) =>
            keyPage(language, {
              path: managePath(call.code),
              error: problem && tellKey(problem, language),
            }),
          headers,
        );
      const { link, key } = unlocked;
      const nowMs = clock.nowMs();
      const lastDays = { interval: "day", timeZone: "UTC" } as const;
      // Without the store, the form says at least what became of the change.
      const statistics = await visits.statistics(link, lastDays, "maker").catch(orNothing);
      const shown = { link, key, nowMs, edits, codeHoldMs, sent };
      return html(
        call,
        status,
        (language) =>
          managePage(language, {
            ...shown,
            shortUrl: call.domain.shortUrl(link.code),
            changed: changedOf(link, nowMs),
            statistics: isProblem(statistics) ? undefined : statistics,
            done: done && message(language, done),
            ...(problem === undefined ? { errors: {} } : tell(problem, language)),
          }),
        headers,
      );
    },
  };
}

export interface ManagePagesOptions extends ManagingOptions {
  readonly links: ManagingOptions["links"] & Pick<Links, "withdraw">;
  readonly views: Pick<Views, "ask">;
  readonly onFault: (error: unknown) => void;
}

/** What the forms send: the key, and what is to be done. The key is in no address and no cookie. */
export function createManagePages(options: ManagePagesOptions) {
  const { links, views, onFault } = options;
  const { unlock, edit } = createManaging(options);

  const show = (call: Call, shown: Shown) => views.ask("manage", call, JSON.stringify(shown));

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
      // Answered with the form, so that nobody has to type it again.
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
        return show(call, { problem: after, sent: shownAgain(sent), unlocked: { link, key } });
      return show(call, {
        done: DONE.get(sent.get("act")),
        unlocked: { link: { ...link, ...after, disabled: link.disabled }, key },
      });
    },
  };
}

export type ManagePages = ReturnType<typeof createManagePages>;

function orNothing(error: unknown): undefined {
  if (!(error instanceof StoreUnavailable)) throw error;
}

/** In words for people, not for programs. */
function tellKey(problem: HttpProblem, language: string): string | undefined {
  if (problem.kind === "malformed" && problem.refusals.some(({ rule }) => rule === "field.required"))
    return message(language, "manage.key.missing");
  return tellBeside(problem, [], language).notice;
}

function tell(problem: HttpProblem, language: string) {
  const told = tellBeside(problem, MANAGE_FIELDS, language, LINK_FIELDS, DATE_WORDS);
  if (told.errors.sure === undefined) return told;
  return { errors: { ...told.errors, sure: message(language, "manage.sure.missing") } };
}
