import type { ApiViewParts } from "../../api/api-parts.ts";
import { qrQuery, readQrStyle } from "../../api/qr-code.ts";
import type { DetachedCall } from "../../http/call.ts";
import { viewEndpoint } from "../../http/endpoint.ts";
import { describe } from "../../http/problems.ts";
import { html } from "../../http/responses.ts";
import { parametersOf } from "../../http/url.ts";
import { hasPassword, shownCode } from "../../links/link.ts";
import { isProblem } from "../../links/problem.ts";
import { describeInForm } from "../forms.ts";
import { answerPageProblem } from "../problem/answer.ts";
import { QR_FIELDS, qrPage } from "./page.tsx";

/** A link's QR code in the style of the query. */
export const showQrPage = viewEndpoint({
  at: "GET /{code}+qr",
  cost: "work",
  view: { parameters: [...Object.keys(qrQuery.shape), "language"], render: renderQrPage },
});

function renderQrPage({ links }: Pick<ApiViewParts, "links">) {
  return async (call: DetachedCall): Promise<Response> => {
    const { query: style, problem } = readQrStyle(call.request);
    const link = await links.resolve(call.code);
    if (isProblem(link)) {
      // Only `find` suggests a similar code.
      const found = link.kind === "unknown" ? await links.find(call.code) : link;
      return answerPageProblem(call, isProblem(found) ? found : link);
    }
    const query = parametersOf(call.request);
    const form = Object.fromEntries(
      QR_FIELDS.flatMap((field) => {
        const value = query.get(field);
        return value === null ? [] : [[field, value]];
      }),
    );
    const code = shownCode(link);
    const shown = {
      code,
      shortUrl: call.domain.shownUrl(code),
      target: hasPassword(link) ? undefined : link.target,
      terms: link.terms,
      style,
      form,
    };
    const { status, headers } = problem === undefined ? { status: 200, headers: {} } : describe(problem);
    return html(
      call,
      status,
      (language) =>
        qrPage(language, {
          ...shown,
          errors: problem === undefined ? {} : describeInForm(problem, QR_FIELDS, language).errors,
        }),
      headers,
    );
  };
}
