import { negotiateLanguage } from "../language/messages.ts";
import { prefersHtml } from "./answers.ts";
import type { Call } from "./call.ts";
import { acceptsGzip } from "./compression.ts";
import { memoizeByDomain } from "./domain.ts";
import { pageLanguage } from "./page-language.ts";
import { problemAnswer } from "./problems.ts";

/**
 * Answers a code that is not in the store. Robots ask for many, and making the answer takes ten times as long as copying
 * it. So one is kept for each language and format, compressed or not.
 */
export function createUnknownAnswer() {
  const keptBy = memoizeByDomain((): { answer?: Response } => ({}));

  return (call: Call): Response => {
    const { headers, request } = call;
    const make = () => problemAnswer(call, { kind: "unknown" });
    let kind = `json ${negotiateLanguage(headers.get("accept-language"))}`;
    if (prefersHtml(headers.get("accept"))) {
      const page = pageLanguage(request);
      // The cookie is for one reader only.
      if (page.headers["Set-Cookie"] !== undefined) return make();
      kind = `html ${page.language}`;
    }
    if (acceptsGzip(headers.get("accept-encoding"))) kind += " gzip";
    const kept = keptBy(call.domain, kind);
    kept.answer ??= make();
    return kept.answer.clone() as Response;
  };
}
