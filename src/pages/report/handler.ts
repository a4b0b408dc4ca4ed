import type { DetachedCall, Call } from "../../http/call.ts";
import { describe, type HttpProblem, malformed, problemJson, problemOf } from "../../http/problems.ts";
import { html, prefersHtml } from "../../http/responses.ts";
import { queryOf } from "../../http/url.ts";
import type { Views } from "../../http/views.ts";
import { BODIES, header } from "../../lib/bounds.ts";
import { hasPassword } from "../../links/link.ts";
import type { Links } from "../../links/links.ts";
import { invalid, isProblem } from "../../links/problem.ts";
import { REASONS } from "../../links/reasons.ts";
import { message } from "../../locales/messages.ts";
import type { Reports } from "../../moderation/reports/reports.ts";
import { isFromAnotherSite, parseForm, readForm, describeInForm, seeOther } from "../forms.ts";
import { problemAnswer } from "../problem/answer.ts";
import { REPORT_PATH } from "../shared/layout.tsx";
import { REPORT_FIELDS, reportAnyPage, type ReportField, reportedPage, reportPage } from "./page.tsx";

/** The page after a report. No code has a +. */
export const REPORTED_PATH = "/+reported";

type Form = Readonly<Record<ReportField, string>>;

const EMPTY: Form = { reason: "", note: "" };

/** The data for the view of a refused form. */
interface RefusedForm {
  readonly form: Form;
  readonly problem: HttpProblem;
}

export interface ReportOptions {
  readonly reports: Pick<Reports, "report">;
  readonly views: Pick<Views, "ask">;
  readonly onFault: (error: unknown) => void;
}

/** The forms that report a link, and the confirmation. */
export function createReportViews({ links }: { readonly links: Pick<Links, "find"> }) {
  async function form(
    call: DetachedCall,
    { form: values, problem }: Partial<RefusedForm>,
  ): Promise<Response> {
    const link = await links.find(call.code);
    if (isProblem(link)) return problemAnswer(call, link);
    const { status, headers } = problem === undefined ? { status: 200, headers: {} } : describe(problem);
    const { code, target, disabled } = link;
    const shown = {
      code,
      target: hasPassword(link) ? undefined : target,
      works: disabled === undefined,
      shortUrl: call.domain.shownUrl(code),
      form: values ?? EMPTY,
    };
    return html(
      call,
      status,
      (language) =>
        reportPage(language, {
          ...shown,
          ...(problem === undefined ? { errors: {} } : describeProblem(problem, language)),
        }),
      headers,
    );
  }

  return {
    /** Asks for a short address, and redirects to that link's form, at the domain that the address names. */
    async reportAny(call: DetachedCall): Promise<Response> {
      const query = parseForm(queryOf(call.request).slice(1));
      const address = isProblem(query) ? "" : (query.get("address") ?? "").trim();
      const { host, code } = partsOf(address);
      const domain = host === "" ? call.domain : call.domain.find(host);
      if (domain !== undefined && domain !== call.domain)
        return seeOther(
          `${domain.origin}${REPORT_PATH}?${new URLSearchParams({ address: code }).toString()}`,
        );
      const found = domain === undefined ? UNKNOWN_DOMAIN : await links.find(code);
      const link = address === "" ? undefined : found;
      if (link !== undefined && !isProblem(link)) return seeOther(`/${encodeURIComponent(link.code)}+report`);
      const problem = link && describe(link);
      return html(
        call,
        problem?.status ?? 200,
        (language) =>
          reportAnyPage(language, {
            address,
            errors: link === undefined ? {} : { address: describeInForm(link, [], language).notice ?? "" },
          }),
        problem?.headers,
      );
    },

    report: (call: DetachedCall) => form(call, {}),

    refusedReport: (call: DetachedCall, data: string) => form(call, JSON.parse(data) as RefusedForm),

    reported: (call: DetachedCall) => html(call, 200, (language) => reportedPage(language)),
  };
}

export function createReport({ reports, views, onFault }: ReportOptions) {
  async function report(call: Call, { reason: given, note }: Form, address: string) {
    const reason = REASONS.find((one) => one === given);
    if (reason === undefined)
      return malformed({ rule: "field.values", field: "reason", values: REASONS.join(", ") });
    try {
      return await reports.report(call.code, { reason, note }, address);
    } catch (error) {
      // The response is the form, so that nobody has to type it again.
      onFault(error);
      return problemOf(error);
    }
  }

  function formAgain(call: Call, form: Form, problem: HttpProblem): Promise<Response> {
    const view: RefusedForm = { form, problem };
    return views.ask("refusedReport", call, JSON.stringify(view));
  }

  /** Sends the report unless `refused` is set. */
  async function answerForm(call: Call, refused?: HttpProblem): Promise<Response> {
    const { address } = call.client();
    const fields = await readForm(call.request, BODIES["POST /{code}+report"]);
    if (isProblem(fields))
      return prefersHtml(header(call.headers, "accept"))
        ? formAgain(call, EMPTY, fields)
        : problemJson(call, fields);
    // Browsers send line breaks as two characters (WHATWG HTML, section 4.10.21.8).
    const note = (fields.get("note") ?? "").replaceAll("\r\n", "\n");
    const form = { reason: fields.get("reason") ?? "", note };
    if (refused !== undefined) return formAgain(call, form, refused);
    if (isFromAnotherSite(call)) return formAgain(call, form, { kind: "cross-site" });
    const reported = await report(call, form, address);
    if (isProblem(reported)) return formAgain(call, form, reported);
    return seeOther(REPORTED_PATH);
  }

  return {
    /** Answers 303 (RFC 9110, section 15.4.4), so that a reload sends nothing again. */
    send: (call: Call) => answerForm(call),
    /** Sends no report, and shows the submitted form. */
    refuse: (call: Call, problem: HttpProblem) => answerForm(call, problem),
  };
}

/** A missing reason, in words for people, not for API clients. */
function describeProblem(problem: HttpProblem, language: string) {
  const description = describeInForm(problem, REPORT_FIELDS, language);
  if (description.errors.reason === undefined) return description;
  return { errors: { ...description.errors, reason: message(language, "report.choose") } };
}

const UNKNOWN_DOMAIN = invalid({ rule: "domain.unknown" });

/** The host and the code in a copied address: with or without scheme, host, query, trailing slash or +. */
function partsOf(address: string): { readonly host: string; readonly code: string } {
  const [start = "", host = ""] = /^(?:https?:\/\/)?([^/]*)\/(?=[^/+])/i.exec(address) ?? [];
  const [segment = ""] = address.slice(start.length).split(/[/?#]/, 1);
  try {
    return { host, code: decodeURIComponent(segment.replace(/\+[a-z]*$/, "")) };
  } catch {
    return { host, code: "" };
  }
}
