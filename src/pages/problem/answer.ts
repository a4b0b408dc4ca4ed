import type { DetachedCall } from "../../http/call.ts";
import { leave } from "../../http/compression.ts";
import { type AddressProblem, describe, type PageProblem, problemJson } from "../../http/problems.ts";
import { html, prefersHtml } from "../../http/responses.ts";
import { pathOf, writtenIn } from "../../http/url.ts";
import { header } from "../../lib/bounds.ts";
import type { Code } from "../../links/code.ts";
import { withoutScheme } from "../shared/ticket.tsx";
import { problemPage } from "./page.tsx";
import { unknownPage } from "./unknown-page.tsx";

/** For addresses that people open: browsers get a page, programs get JSON. `meant`: see {@link unknownPage}. */
export function answerPageProblem(call: DetachedCall, problem: AddressProblem, meant?: Code): Response {
  if (problem.kind !== "method" && prefersHtml(header(call.headers, "accept")))
    return problemHtml(call, problem, meant);
  return problemJson(call, problem, { Vary: "Accept, Accept-Language" });
}

/** For any address. The API has no pages. */
export function answerProblem(call: DetachedCall, problem: AddressProblem): Response {
  return isForApi(call) ? problemJson(call, problem) : answerPageProblem(call, problem);
}

export function isForApi({ request }: DetachedCall): boolean {
  return pathOf(request).startsWith("/api/");
}

function problemHtml(call: DetachedCall, problem: PageProblem, meant?: Code): Response {
  const { status, headers } = describe(problem);
  const all = { ...headers, Vary: "Accept, Accept-Language, Cookie" };
  const { baseUrl } = call.domain;
  if (problem.kind !== "unknown" && problem.kind !== "not-found") {
    const address = call.code && `${withoutScheme(baseUrl)}/${call.code}`;
    return html(call, status, (language) => problemPage(language, problem, address), all);
  }
  const spelling = call.code || writtenIn(call.request);
  return html(
    call,
    status,
    (language) => unknownPage(language, { baseUrl, written: spelling, meant }),
    all,
    leave,
  );
}
