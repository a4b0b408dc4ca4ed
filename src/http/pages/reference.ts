import type { ApiDescription } from "../../pages/openapi.ts";
import { referencePage } from "../../pages/reference.tsx";
import { FINDABLE, html } from "../answers.ts";
import { operations } from "../api/operations.ts";
import type { Asked } from "../call.ts";
import { type Domain, memoizeByDomain } from "../domain.ts";

/** The developers' page, for search engines as well; `describe` gives the OpenAPI document of a domain in a language. */
export function createReference(describe: (domain: Domain, language: string) => ApiDescription) {
  const render = memoizeByDomain((domain, language) =>
    referencePage(language, describe(domain, language), operations.document.path),
  );
  return (call: Asked): Response => html(call, 200, (language) => render(call.domain, language), FINDABLE);
}
