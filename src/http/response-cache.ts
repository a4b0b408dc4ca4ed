import { negotiateLanguage } from "../locales/messages.ts";
import type { Call } from "./call.ts";
import { acceptsGzip } from "./compression.ts";
import { memoizeByDomain } from "./domain.ts";
import { pageLanguage } from "./page-language.ts";
import { answerProblem } from "./problems.ts";
import { prefersHtml } from "./responses.ts";
import { pathOf } from "./url.ts";

/** Problems whose answer is the same for every request in one language and form. */
interface Same {
  readonly kind: "unknown" | "overloaded";
}

/** Answers that are made once and then copied: making one takes ten times as long. */
export type AnswerKept = (call: Call, problem: Same) => Response;

export function createKeptAnswers(): AnswerKept {
  const keptBy = memoizeByDomain((): { answer?: Response } => ({}));

  return (call, problem) => {
    const isPage = isForReader(call);
    const { language, headers } = isPage ? pageLanguage(call.request) : forProgram(call);
    // A cookie is for this reader only.
    if ("Set-Cookie" in headers) return answerProblem(call, problem);
    const coding = acceptsGzip(call.headers.get("accept-encoding")) ? "gzip" : "";
    const form = isPage ? "html" : isForApi(call) ? "api" : "json";
    const kept = keptBy(call.domain, `${problem.kind} ${form} ${language} ${coding}`);
    kept.answer ??= answerProblem(call, problem);
    return kept.answer.clone() as Response;
  };
}

function forProgram(call: Call) {
  return { language: negotiateLanguage(call.headers.get("accept-language")), headers: {} };
}

function isForApi({ request }: Call): boolean {
  return pathOf(request).startsWith("/api/");
}

export function isForReader(call: Call): boolean {
  return prefersHtml(call.headers.get("accept")) && !isForApi(call);
}
