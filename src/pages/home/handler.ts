import type { Asked, Call } from "../../http/call.ts";
import type { Limiter } from "../../http/limiter.ts";
import { describe, type HttpProblem, problemJson, problemOf } from "../../http/problems.ts";
import { answer, FINDABLE, html, prefersHtml } from "../../http/responses.ts";
import { queryOf } from "../../http/url.ts";
import type { Views } from "../../http/views/views.ts";
import type { Clock } from "../../links/clock.ts";
import { suggestFreeCodes } from "../../links/code-suggestions.ts";
import { type Code, parseCode } from "../../links/code.ts";
import type { Link } from "../../links/link.ts";
import type { Links } from "../../links/links.ts";
import { isProblem } from "../../links/problem.ts";
import { StoreUnavailable } from "../../links/store.ts";
import type { Expiry } from "../../links/time.ts";
import type { TokenCheck } from "../../moderation/access-tokens.ts";
import type { Made } from "../preview/just-created.ts";
import { isFromAnotherSite } from "../shared/form-data.ts";
import {
  EMPTY,
  type Form,
  formOfQuery,
  readForm,
  readRequest,
  shortened,
  tellInForm,
} from "../shared/link-form.ts";
import { type Pasted, readPasted } from "../shared/pasted-address.ts";
import { homePage, type Taken } from "./page.tsx";

export interface HomeOptions {
  readonly links: Pick<Links, "create" | "refusalsOf">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly mayCreate: TokenCheck;
  readonly limiter: Pick<Limiter, "view" | "unknown" | "barred">;
  readonly views: Pick<Views, "ask">;
  readonly made: Pick<Made, "remember">;
  readonly onFault: (error: unknown) => void;
}

/** What the view of a refused form is made of. */
interface Refused {
  readonly form: Form;
  readonly problem: HttpProblem;
  /** Addresses that the maker may have meant. */
  readonly offers?: readonly string[];
  /** Whether the address was found in a text. */
  readonly isUnderstood?: boolean;
}

export interface HomeViewsOptions {
  readonly defaultExpiry: Expiry;
  /** Whether links are only made for those who know the token. */
  readonly needsToken: boolean;
  readonly links: Pick<Links, "find">;
}

/** The home page: the form, empty or as an address fills it in, and as it was sent where it was refused. */
export function createHomeViews(options: HomeViewsOptions) {
  return {
    show(call: Asked): Response {
      const { baseUrl } = call.domain;
      const form = shortened(formOfQuery(queryOf(call.request)));
      const isEmpty = Object.values(form).every((text) => text === "");
      return html(
        call,
        200,
        (language) => homePage(language, { ...options, baseUrl, form, errors: {} }),
        isEmpty ? FINDABLE : {},
      );
    },

    async refused(call: Asked, data: string): Promise<Response> {
      const { form, problem, offers = [], isUnderstood } = JSON.parse(data) as Refused;
      const { baseUrl } = call.domain;
      const { status, headers } = describe(problem);
      const taken = FORM_KINDS.has(problem.kind) ? await lookForCode(form.custom_code) : undefined;
      return html(
        call,
        status,
        (language) =>
          homePage(language, {
            ...options,
            baseUrl,
            form,
            offers,
            isUnderstood,
            taken,
            ...tellInForm(problem, form, offers.length > 0, language),
          }),
        headers,
      );
    },
  };

  /** A taken code is told with all else that is wrong, and with free ones like it. */
  async function lookForCode(written: string): Promise<Taken | undefined> {
    const code = written === "" ? undefined : parseCode(written);
    try {
      if (code === undefined || isProblem(code) || !(await isTaken(code))) return undefined;
      return { code, free: await suggestFreeCodes(code, async (variant) => !(await isTaken(variant))) };
    } catch (error) {
      // The form is more important.
      if (error instanceof StoreUnavailable) return undefined;
      throw error;
    }
  }

  async function isTaken(code: Code): Promise<boolean> {
    const found = await options.links.find(code, "maker");
    return !isProblem(found) || found.kind !== "unknown";
  }
}

/** The address is as its maker wants it. */
const CLEAR: Pasted = { offers: [] };

/** Others say nothing about what is in the fields. */
const FORM_KINDS: ReadonlySet<HttpProblem["kind"]> = new Set(["invalid", "taken"]);

/** The form of the home page, which makes links without a script. */
export function createHome({ links, clock, views, made, limiter, mayCreate, onFault }: HomeOptions) {
  /** Makes the link, or tells all that is wrong. */
  async function create(form: Form, isUnclear: boolean): Promise<Link | HttpProblem> {
    const read = readRequest(form, clock.nowMs());
    if (isProblem(read)) return read;
    if (isUnclear || read.refusals.length > 0) {
      // All else that is wrong is told, too.
      const others = links
        .refusalsOf(read.request)
        .filter(({ rule }) => !isUnclear || !rule.startsWith("target."));
      const unclear = isUnclear ? [{ rule: "target.scheme" } as const] : [];
      return { kind: "invalid", refusals: [...unclear, ...read.refusals, ...others] };
    }
    try {
      return await links.create(read.request);
    } catch (error) {
      // Answered with the form, so that nobody has to type it again.
      onFault(error);
      return problemOf(error);
    }
  }

  /** The form as it was sent, with what is wrong with it. */
  async function formAgain(call: Call, form: Form, told: Omit<Refused, "form">): Promise<Response> {
    // The view says whether the code is taken: whoever scans codes must not do it here.
    const looksUp = form.custom_code !== "" && FORM_KINDS.has(told.problem.kind);
    const limited = looksUp ? await (limiter.barred(call) ?? limiter.unknown(call)) : undefined;
    const refused: Refused = { form: shortened(form), ...told, ...(limited && { problem: limited }) };
    // It costs as much as any other view, and who has used up all links may send the form on and on.
    return limiter.view(() => views.ask("refusedForm", call, JSON.stringify(refused)))(call);
  }

  /** Reads the form, and makes its link unless that is `refused`. */
  async function answerForm(call: Call, refused?: HttpProblem): Promise<Response> {
    const sent = await readForm(call.request);
    if (isProblem(sent))
      return prefersHtml(call.headers.get("accept"))
        ? formAgain(call, EMPTY, { problem: sent })
        : problemJson(call, sent);
    if (refused !== undefined) return formAgain(call, sent, { problem: refused });
    if (isFromAnotherSite(call)) return formAgain(call, sent, { problem: { kind: "cross-site" } });
    if (!mayCreate(sent.token))
      return formAgain(call, sent, {
        problem: { kind: sent.token === "" ? "token.missing" : "token.wrong" },
      });
    const { address, offers } = sent.isMeant ? CLEAR : readPasted(sent.original_url);
    const form = address === undefined ? sent : { ...sent, original_url: address };
    const isUnderstood = form.original_url !== sent.original_url;
    const link = await create(form, offers.length > 0);
    if (isProblem(link)) return formAgain(call, form, { problem: link, offers, isUnderstood });
    return answer({
      status: 303,
      headers: {
        Location: `/${encodeURIComponent(link.code)}+#made`,
        "Set-Cookie": made.remember(call, link),
        "Cache-Control": "no-store",
      },
    });
  }

  return {
    /** Answers 303 to the preview (RFC 9110, section 15.4.4), so that reloading the page makes no second link. */
    make: (call: Call) => answerForm(call),
    /** Makes no link, and shows the form as it was sent. */
    refuse: (call: Call, problem: HttpProblem) => answerForm(call, problem),
  };
}

export type Home = ReturnType<typeof createHome>;
