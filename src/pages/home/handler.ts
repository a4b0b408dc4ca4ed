import type { ApiViewParts } from "../../api/api-parts.ts";
import { asCaller, identifyBy, MIN_KEY_LENGTH, REUSED } from "../../api/creation.ts";
import type { DetachedCall, Call } from "../../http/call.ts";
import { isFromAnotherSite } from "../../http/credentials.ts";
import { type Show, viewEndpoint } from "../../http/endpoint.ts";
import { urlLanguage } from "../../http/page-language.ts";
import { describe, type HttpProblem, problemJson, asProblem } from "../../http/problems.ts";
import { answer, FINDABLE, html, KEPT_FOR_BACK, prefersHtml } from "../../http/responses.ts";
import { queryOf } from "../../http/url.ts";
import { header } from "../../lib/bounds.ts";
import { suggestFreeCodes } from "../../links/code-suggestions.ts";
import { type Code, parseCode } from "../../links/code.ts";
import type { CreateRequest } from "../../links/drafts.ts";
import { StoreUnavailable } from "../../links/link-store.ts";
import { shownCode, type Link } from "../../links/link.ts";
import { isProblem } from "../../links/problem.ts";
import { knownZone } from "../forms.ts";
import type { PageParts } from "../page-parts.ts";
import { createJustCreated } from "../preview/just-created.ts";
import type { Home, TakenCode } from "./fields.tsx";
import {
  EMPTY,
  type Form,
  formOfQuery,
  readHomeForm,
  readRequest,
  shorten,
  describeRefusal,
} from "./form.ts";
import { homePage, queryOfLanguage } from "./page.tsx";
import { type PastedText, readPasted } from "./pasted-address.ts";

/** The data for the view of a refused form. */
interface RefusedForm {
  readonly form: Form;
  readonly problem: HttpProblem;
  readonly offers?: readonly string[];
  /** Whether the address was found in a text. */
  readonly isUnderstood?: boolean;
}

type HomeViewParts = ApiViewParts & Pick<Home, "edits" | "codeHoldMs">;

/** The form, empty or filled in by a query. */
export const showHome = viewEndpoint({
  at: "GET /",
  cost: "shared",
  view: {
    render: (parts: HomeViewParts) => (call: DetachedCall) => {
      const { baseUrl } = call.domain;
      const chosen = urlLanguage(call.request);
      const form = shorten(formOfQuery(queryOf(call.request)));
      const isEmpty = Object.values(form).every((text) => text === "");
      return html(
        call,
        200,
        (language) => homePage(language, { ...parts, baseUrl, chosen, form, errors: {} }),
        isEmpty ? FINDABLE : {},
      );
    },
  },
});

/** Creates a link without a script. Answers 303 (RFC 9110, section 15.4.4), so that a reload creates no second one. */
export const sendHomeForm = viewEndpoint({
  at: "POST /",
  cost: "create",
  limit: "create",
  view: { render: renderRefusedForm },
  serve: serveForm,
});

function renderRefusedForm(parts: HomeViewParts) {
  return async (
    call: DetachedCall,
    { form, problem, offers = [], isUnderstood }: RefusedForm,
  ): Promise<Response> => {
    const { baseUrl } = call.domain;
    const { status, headers } = describe(problem);
    const taken = FORM_KINDS.has(problem.kind) ? await lookForCode(form.custom_code, call.domain) : undefined;
    return html(
      call,
      status,
      (language) =>
        homePage(language, {
          ...parts,
          baseUrl,
          chosen: urlLanguage(call.request),
          form: { ...form, zone: knownZone(form.zone) },
          offers,
          isUnderstood,
          taken,
          ...describeRefusal(problem, form, offers.length > 0, language),
        }),
      form.password === "" ? { ...headers, ...KEPT_FOR_BACK } : headers,
    );
  };

  /** Reports a taken code together with the other mistakes, and finds free ones like it. */
  async function lookForCode(
    text: string,
    { codeCase }: DetachedCall["domain"],
  ): Promise<TakenCode | undefined> {
    const code = text === "" ? undefined : parseCode(text, codeCase);
    try {
      if (code === undefined || isProblem(code) || !(await isTaken(code))) return undefined;
      const isFree = async (variant: Code) => !(await isTaken(variant));
      return { code, free: await suggestFreeCodes(code, codeCase, isFree) };
    } catch (error) {
      // The form matters more than the suggestions.
      if (error instanceof StoreUnavailable) return undefined;
      throw error;
    }
  }

  async function isTaken(code: Code): Promise<boolean> {
    const lookup = await parts.links.find(code, "maker");
    return !isProblem(lookup) || lookup.kind !== "unknown";
  }
}

/** The maker has chosen the address. */
const CLEAR: PastedText = { offers: [] };

/** Other problems say nothing about the fields. */
const FORM_KINDS: ReadonlySet<HttpProblem["kind"]> = new Set(["invalid", "taken"]);

function serveForm(
  { links, clock, secret, limiter, refusalToCreate, onFault }: PageParts,
  show: Show<RefusedForm>,
) {
  const justCreated = createJustCreated({ secret, clock });

  /** Creates the link, or reports all mistakes together. */
  async function create(call: Call, form: Form, isUnclear: boolean): Promise<Link | HttpProblem> {
    const read = readRequest(form, clock.nowMs());
    if (isProblem(read)) return read;
    if (isUnclear || read.refusals.length > 0) {
      const others = links
        .refusalsOf(read.request)
        .filter(({ rule }) => !isUnclear || !rule.startsWith("target."));
      const unclear = isUnclear ? [{ rule: "target.scheme" } as const] : [];
      return { kind: "invalid", refusals: [...unclear, ...read.refusals, ...others] };
    }
    try {
      return await createOnce(call, read.request, form.form);
    } catch (error) {
      // The response is the form, so that nobody has to type it again.
      onFault(error);
      return asProblem(error);
    }
  }

  /** The browser's script names the form, so that it can send it again if it gets no response. With other entries, it is new. */
  async function createOnce(call: Call, request: CreateRequest, name: string): Promise<Link | HttpProblem> {
    const wanted = asCaller(call, request, limiter);
    if (name.length < MIN_KEY_LENGTH) return links.create(wanted);
    const entries = JSON.stringify(request);
    const retry = identifyBy(name + entries, call, secret)("/", entries);
    const created = await links.createOnce([wanted], retry, []);
    return "kind" in created ? REUSED : created.outcomes[0];
  }

  async function formAgain(call: Call, form: Form, refusal: Omit<RefusedForm, "form">): Promise<Response> {
    // The view looks the code up, so this must count like a visit of an unknown code.
    const looksUp = form.custom_code !== "" && FORM_KINDS.has(refusal.problem.kind);
    const limited = looksUp ? await (limiter.barred(call) ?? limiter.unknown(call)) : undefined;
    return show(call, { form: shorten(form), ...refusal, ...(limited && { problem: limited }) });
  }

  /** Creates the link unless `refused` is set. */
  async function answerForm(call: Call, refused?: HttpProblem): Promise<Response> {
    const input = await readHomeForm(call.request);
    if (isProblem(input))
      return prefersHtml(header(call.headers, "accept"))
        ? formAgain(call, EMPTY, { problem: input })
        : problemJson(call, input);
    if (refused !== undefined) return formAgain(call, input, { problem: refused });
    if (isFromAnotherSite(call)) return formAgain(call, input, { problem: { kind: "cross-site" } });
    const refusal = refusalToCreate(call, input.token);
    if (refusal !== undefined) return formAgain(call, input, { problem: refusal });
    const { address, offers } = input.isMeant ? CLEAR : readPasted(input.original_url);
    const form = address === undefined ? input : { ...input, original_url: address };
    const isUnderstood = form.original_url !== input.original_url;
    const link = await create(call, form, offers.length > 0);
    if (isProblem(link)) return formAgain(call, form, { problem: link, offers, isUnderstood });
    return answer({
      status: 303,
      headers: {
        Location: `/${encodeURIComponent(shownCode(link))}+${queryOfLanguage(urlLanguage(call.request))}#made`,
        "Set-Cookie": justCreated.remember(call, link),
        "Cache-Control": "no-store",
      },
    });
  }

  return {
    handle: limiter.attempt((call) => answerForm(call)),
    /** Creates no link, and shows the submitted form, which a client could send again and again. */
    refuse: (call: Call, problem: HttpProblem) => limiter.view(() => answerForm(call, problem))(call),
  };
}
