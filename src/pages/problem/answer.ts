import type { DetachedCall } from "../../http/call.ts";
import { leave } from "../../http/compression.ts";
import { type AddressProblem, describe, type PageProblem, problemJson } from "../../http/problems.ts";
import { html, KEPT_FOR_BACK, prefersHtml } from "../../http/responses.ts";
import { pathOf, writtenIn } from "../../http/url.ts";
import { header } from "../../lib/bounds.ts";
import { problemPage } from "./page.tsx";
import { unknownPage } from "./unknown-page.tsx";

/** For addresses that people open: browsers get a page, programs get JSON. */
export function answerPageProblem(call: DetachedCall, problem: AddressProblem): Response {
  if (problem.kind !== "method" && prefersHtml(header(call.headers, "accept")))
    return problemHtml(call, problem);
  return problemJson(call, problem, { Vary: "Accept, Accept-Language" });
}

/** For any address. The API has no pages. */
export function answerProblem(call: DetachedCall, problem: AddressProblem): Response {
  return isForApi(call) ? problemJson(call, problem) : answerPageProblem(call, problem);
}

export function isForApi({ request }: DetachedCall): boolean {
  return pathOf(request).startsWith("/api/");
}

function problemHtml(call: DetachedCall, problem: PageProblem): Response {
  const { status, headers } = describe(problem);
  const isForm = call.request.method === "POST";
  const all = { ...headers, Vary: "Accept, Accept-Language, Cookie", ...(isForm && KEPT_FOR_BACK) };
  const { baseUrl, codeCase, identity } = call.domain;
  if (problem.kind !== "unknown" && problem.kind !== "not-found")
    return html(call, status, (language) => problemPage(language, problem, baseUrl, call.code), all);
  const written = call.code || writtenIn(call.request);
  const { meant } = problem;
  return html(
    call,
    status,
    (language) => unknownPage(language, { baseUrl, codeCase, written, meant, hasPeople: identity.hasPeople }),
    all,
    leave,
  );
}
