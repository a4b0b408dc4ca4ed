import { memoize } from "../../memoize.ts";
import type { ApiDescription } from "../../pages/openapi.ts";
import { referencePage } from "../../pages/reference.tsx";
import { FINDABLE, html } from "../answers.ts";
import { operations } from "../api/operations.ts";

/** The developers' page, for search engines as well; `describe` gives the OpenAPI document in a language. */
export function createReference(describe: (language: string) => ApiDescription) {
  const render = memoize((language) => referencePage(language, describe(language), operations.document.path));
  return (request: Request): Response => html(request, 200, render, FINDABLE);
}
