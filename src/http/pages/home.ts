import type { TokenCheck } from "../../guard/token.ts";
import { DURATIONS, type Expiry } from "../../links/expiry.ts";
import type { Link } from "../../links/link.ts";
import type { Links } from "../../links/links.ts";
import { isProblem } from "../../links/problem.ts";
import { homePage } from "../../pages/home.tsx";
import { answer, FINDABLE, html, prefersHtml } from "../answers.ts";
import type { Asked, Call } from "../call.ts";
import type { Limiter } from "../limits.ts";
import { describe, type HttpProblem, malformed, problemJson, problemOf } from "../problems.ts";
import { queryOf } from "../url.ts";
import type { Views } from "../views/views.ts";
import { isFromAnotherSite } from "./fields.ts";
import { EMPTY, type Form, formOfQuery, offerFor, readForm, shortened, tellInForm } from "./form.ts";
import type { Made } from "./made.ts";

export interface HomeOptions {
  readonly links: Pick<Links, "create">;
  readonly mayCreate: TokenCheck;
  readonly limiter: Pick<Limiter, "view">;
  readonly views: Pick<Views, "ask">;
  readonly made: Pick<Made, "remember">;
  readonly onFault: (error: unknown) => void;
}

/** What the view of a refused form is made of. */
interface Refused {
  readonly form: Form;
  readonly problem: HttpProblem;
}

export interface HomeViewsOptions {
  readonly defaultExpiry: Expiry;
  /** Whether links are only made for those who know the token. */
  readonly needsToken: boolean;
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

    refused(call: Asked, data: string): Response {
      const { form, problem } = JSON.parse(data) as Refused;
      const { baseUrl } = call.domain;
      const { status, headers } = describe(problem);
      const offer = offerFor(form.original_url);
      return html(
        call,
        status,
        (language) =>
          homePage(language, {
            ...options,
            baseUrl,
            form,
            offer,
            ...tellInForm(problem, form, language),
          }),
        headers,
      );
    },
  };
}

/** The form of the home page, which makes links without a script. */
export function createHome({ links, views, made, limiter, mayCreate, onFault }: HomeOptions) {
  async function create(form: Form): Promise<Link | HttpProblem> {
    const expiry = DURATIONS.find((duration) => duration === form.expire_duration);
    if (expiry === undefined && form.expire_duration !== "")
      return malformed({ rule: "field.values", field: "expire_duration", values: DURATIONS.join(", ") });
    const { original_url: originalUrl, custom_code: customCode } = form;
    try {
      return await links.create({ originalUrl, customCode: customCode || undefined, expiry });
    } catch (error) {
      // Answered with the form, so that nobody has to type it again.
      onFault(error);
      return problemOf(error);
    }
  }

  /** The form as it was sent, with what is wrong with it. */
  async function formAgain(call: Call, form: Form, problem: HttpProblem): Promise<Response> {
    const refused: Refused = { form: shortened(form), problem };
    // It costs as much as any other view, and who has used up all links may send the form on and on.
    return limiter.view(() => views.ask("refusedForm", call, JSON.stringify(refused)))(call);
  }

  /** Reads the form, and makes its link unless that is `refused`. */
  async function answerForm(call: Call, refused?: HttpProblem): Promise<Response> {
    const form = await readForm(call.request);
    if (isProblem(form))
      return prefersHtml(call.headers.get("accept")) ? formAgain(call, EMPTY, form) : problemJson(call, form);
    if (refused !== undefined) return formAgain(call, form, refused);
    if (isFromAnotherSite(call)) return formAgain(call, form, { kind: "cross-site" });
    if (!mayCreate(form.token))
      return formAgain(call, form, { kind: form.token === "" ? "token.missing" : "token.wrong" });
    const link = await create(form);
    if (isProblem(link)) return formAgain(call, form, link);
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
