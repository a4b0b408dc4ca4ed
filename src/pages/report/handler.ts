import type { ApiViewParts } from "../../api/api-parts.ts";
import type { DetachedCall, Call } from "../../http/call.ts";
import { isFromAnotherSite } from "../../http/credentials.ts";
import { type Show, viewEndpoint } from "../../http/endpoint.ts";
import { describe, type HttpProblem, malformed, problemJson, asProblem } from "../../http/problems.ts";
import { html, KEPT_FOR_BACK, prefersHtml } from "../../http/responses.ts";
import { parametersOf, queryOf } from "../../http/url.ts";
import { BODIES, header } from "../../lib/bounds.ts";
import { hasPassword, shownCode } from "../../links/link.ts";
import { invalid, isProblem, REASONS } from "../../links/problem.ts";
import { visitedPath } from "../../links/terms/passed-path.ts";
import { message } from "../../locales/messages.ts";
import { parseForm, readForm, describeInForm, seeOther } from "../forms.ts";
import type { PageParts } from "../page-parts.ts";
import { answerPageProblem } from "../problem/answer.ts";
import { REPORT_PATH } from "../shared/layout.tsx";
import { withPathOf, withQuery } from "../shared/with-query.ts";
import {
  REASON_ID,
  REPORT_FIELDS,
  reportAnyPage,
  type ReportField,
  reportedPage,
  reportPage,
} from "./page.tsx";

/** The page after a report. No code has a +. */
const REPORTED_PATH = "/+reported";

interface Form extends Readonly<Record<ReportField, string>> {
  /** The path that the visit adds to the destination. */
  readonly path: string | null;
}

const EMPTY = { reason: "", note: "" };

/** The data for the view of a refused form. */
interface RefusedForm {
  readonly form: Form;
  readonly problem: HttpProblem;
}

/** The form that reports a link. */
export const showReportForm = viewEndpoint({
  at: "GET /{code}+report",
  cost: "work",
  view: { render: (parts: ApiViewParts) => (call: DetachedCall) => renderForm(parts, call) },
});

/** Answers 303 (RFC 9110, section 15.4.4), so that a reload sends nothing again. */
export const sendReport = viewEndpoint({
  at: "POST /{code}+report",
  cost: "work",
  limit: "report",
  view: {
    render: (parts: ApiViewParts) => (call: DetachedCall, refused: RefusedForm) =>
      renderForm(parts, call, refused),
  },
  serve: serveReport,
});

/** Asks for a short address, and redirects to that link's form. */
export const showReportAny = viewEndpoint({
  at: `GET ${REPORT_PATH}`,
  cost: "work",
  view: { render: (parts: ApiViewParts) => (call: DetachedCall) => renderReportAny(parts, call) },
});

export const showReported = viewEndpoint({
  at: `GET ${REPORTED_PATH}`,
  cost: "shared",
  view: { render: () => (call: DetachedCall) => html(call, 200, (language) => reportedPage(language)) },
});

async function renderForm(
  { links }: Pick<ApiViewParts, "links">,
  call: DetachedCall,
  { form: values, problem }: Partial<RefusedForm> = {},
): Promise<Response> {
  const link = await links.find(call.code);
  if (isProblem(link)) return answerPageProblem(call, link);
  const { status, headers } = problem === undefined ? { status: 200 } : describe(problem);
  const { target, disabled } = link;
  const code = shownCode(link);
  const form = values ?? { ...EMPTY, path: parametersOf(call.request).get("path") };
  const shown = {
    code,
    visited: visitedPath(link, form.path),
    target: hasPassword(link) ? undefined : target,
    works: disabled === undefined,
    shortUrl: call.domain.shownUrl(code),
    form,
  };
  return html(
    call,
    status,
    (language) =>
      reportPage(language, {
        ...shown,
        ...(problem === undefined ? { errors: {} } : describeProblem(problem, language)),
      }),
    problem && { ...headers, ...KEPT_FOR_BACK },
  );
}

/** The form is at the domain that the address names. */
async function renderReportAny(
  { links }: Pick<ApiViewParts, "links">,
  call: DetachedCall,
): Promise<Response> {
  const query = parseForm(queryOf(call.request).slice(1));
  const address = isProblem(query) ? "" : (query.get("address") ?? "").trim();
  const { host, code, path } = partsOf(address);
  const domain = host === "" ? call.domain : call.domain.find(host);
  if (domain !== undefined && domain !== call.domain)
    return seeOther(
      withQuery(`${domain.origin}${REPORT_PATH}`, { address: path === "" ? code : `${host}/${code}${path}` }),
    );
  const lookUp = domain === undefined ? UNKNOWN_DOMAIN : await links.find(code);
  const link = address === "" ? undefined : lookUp;
  if (link !== undefined && !isProblem(link))
    return seeOther(
      `${withPathOf(`/${encodeURIComponent(shownCode(link))}+report`, visitedPath(link, path))}#${REASON_ID}`,
    );
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
}

function serveReport({ reports, onFault }: PageParts, show: Show<RefusedForm>) {
  async function report(call: Call, { reason: given, note, path }: Form, address: string) {
    const reason = REASONS.find((one) => one === given);
    if (reason === undefined)
      return malformed({ rule: "field.values", field: "reason", values: REASONS.join(", ") });
    try {
      return await reports.report(call.code, { reason, note, path }, address);
    } catch (error) {
      // The response is the form, so that nobody has to type it again.
      onFault(error);
      return asProblem(error);
    }
  }

  /** Sends the report unless `refused` is set. */
  async function answerForm(call: Call, refused?: HttpProblem): Promise<Response> {
    const fields = await readForm(call.request, BODIES[sendReport.at]);
    if (isProblem(fields))
      return prefersHtml(header(call.headers, "accept"))
        ? show(call, { form: { ...EMPTY, path: null }, problem: fields })
        : problemJson(call, fields);
    // Browsers send line breaks as two characters (WHATWG HTML, section 4.10.21.8).
    const note = (fields.get("note") ?? "").replaceAll("\r\n", "\n");
    const form = { reason: fields.get("reason") ?? "", note, path: fields.get("path") };
    if (refused !== undefined) return show(call, { form, problem: refused });
    if (isFromAnotherSite(call)) return show(call, { form, problem: { kind: "cross-site" } });
    const reported = await report(call, form, call.client().address);
    if (isProblem(reported)) return show(call, { form, problem: reported });
    return seeOther(REPORTED_PATH);
  }

  return { handle: (call: Call) => answerForm(call), refuse: answerForm };
}

/** A missing reason, in words for people, not for API clients. */
function describeProblem(problem: HttpProblem, language: string) {
  const description = describeInForm(problem, REPORT_FIELDS, language);
  if (description.errors.reason === undefined) return description;
  return { errors: { ...description.errors, reason: message(language, "report.choose") } };
}

const UNKNOWN_DOMAIN = invalid({ rule: "domain.unknown" });

/** The host, the code and the path in a copied address: with or without scheme, host, query, trailing slash or +. */
function partsOf(address: string) {
  const [start = "", host = ""] = /^(?:https?:\/\/)?([^/]*)\/(?=[^/+])/i.exec(address) ?? [];
  const [, segment = "", path = ""] = /^([^/?#]*)([^?#]*)/.exec(address.slice(start.length)) ?? [];
  try {
    return { host, code: decodeURIComponent(segment.replace(/\+[a-z]*$/, "")), path };
  } catch {
    return { host, code: "", path };
  }
}
