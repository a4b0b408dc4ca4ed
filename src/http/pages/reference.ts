import { documentRoute } from "../../api/openapi.ts";
import type { ClientLimits } from "../../pages/guide.tsx";
import type { ApiDescription } from "../../pages/openapi.ts";
import { referencePage } from "../../pages/reference.tsx";
import { FINDABLE, html } from "../answers.ts";
import type { Asked } from "../call.ts";
import { type Domain, memoizeByDomain } from "../domain.ts";

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
