import { negotiateLanguage } from "../../language/messages.ts";
import { prefersHtml } from "../answers.ts";
import type { Call } from "../call.ts";
import { acceptsGzip } from "../compression.ts";
import { memoizeByDomain } from "../domain.ts";
import { pageLanguage } from "../page-language.ts";
import { problemAnswer } from "../problems.ts";

/**
 * Answers a code that leads nowhere. Robots ask for many, and making an answer takes ten times as long as copying one. So
 * an answer is kept for each kind of reader: by format, language and compression.
 */
export function createUnknownAnswer() {
  const keptBy = memoizeByDomain((): { answer?: Response } => ({}));

  return (call: Call): Response => {
    const { headers, request } = call;
    const accepted = headers.get("accept-language");
    let kind = `json ${negotiateLanguage(accepted)}`;
    if (prefersHtml(headers.get("accept"))) {
      const { language, headers: ofLanguage } = pageLanguage(request);
      // This answer makes one reader's browser remember the language.
      if (ofLanguage["Set-Cookie"] !== undefined) return problemAnswer(call, { kind: "unknown" });
      kind = `html ${language}`;
    }
    if (acceptsGzip(headers.get("accept-encoding"))) kind += " gzip";
    const kept = keptBy(call.domain, kind);
    kept.answer ??= problemAnswer(call, { kind: "unknown" });
    return kept.answer.clone();
  };
}
