import type { Call } from "../../http/call.ts";
import { acceptsGzip } from "../../http/compression.ts";
import { memoizeByDomain } from "../../http/domain.ts";
import { pageLanguage } from "../../http/page-language.ts";
import { prefersHtml } from "../../http/responses.ts";
import { header } from "../../lib/bounds.ts";
import { negotiateLanguage } from "../../locales/messages.ts";
import { answerProblem, isForApi } from "./answer.ts";

/** Problems with the same response for all requests in one language and form. */
interface CacheableProblem {
  readonly kind: "unknown" | "overloaded";
}

/** Responds with a copy of a cached response, in a tenth of the time to render it. */
export type CachedProblem = (call: Call, problem: CacheableProblem) => Response;

export function createProblemCache(): CachedProblem {
  const cacheOf = memoizeByDomain((): { response?: Response } => ({}));

  return (call, problem) => {
    const isPage = isForReader(call);
    const { language, headers } = isPage ? pageLanguage(call.request) : languageForApi(call);
    // A cookie is for this reader only.
    if ("Set-Cookie" in headers) return answerProblem(call, problem);
    const coding = acceptsGzip(header(call.headers, "accept-encoding")) ? "gzip" : "";
    const form = isPage ? `html ${call.request.method}` : isForApi(call) ? "api" : "json";
    const cache = cacheOf(call.domain, `${problem.kind} ${form} ${language} ${coding}`);
    cache.response ??= answerProblem(call, problem);
    return cache.response.clone() as Response;
  };
}

function languageForApi(call: Call) {
  return { language: negotiateLanguage(header(call.headers, "accept-language")), headers: {} };
}

export function isForReader(call: Call): boolean {
  return prefersHtml(header(call.headers, "accept")) && !isForApi(call);
}
