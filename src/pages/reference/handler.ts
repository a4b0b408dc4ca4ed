import { documentRoute } from "../../api/openapi.ts";
import type { Asked } from "../../http/call.ts";
import { type Domain, memoizeByDomain } from "../../http/domain.ts";
import { FINDABLE, html } from "../../http/responses.ts";
import type { ClientLimits } from "./guide.tsx";
import type { ApiDescription } from "./openapi.ts";
import { referencePage } from "./page.tsx";

export interface ReferenceOptions extends ClientLimits {
  /** Gives the OpenAPI document of a domain in a language. */
  readonly describe: (domain: Domain, language: string) => ApiDescription;
}

/** The developers' page, for search engines as well. */
export function createReference(options: ReferenceOptions) {
  const render = memoizeByDomain((domain, language) =>
    referencePage(language, {
      api: options.describe(domain, language),
      documentPath: documentRoute.path,
      limits: options,
    }),
  );
  return (call: Asked): Response => html(call, 200, (language) => render(call.domain, language), FINDABLE);
}
