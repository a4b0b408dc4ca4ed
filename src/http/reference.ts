import type { ApiDescription } from "../pages/openapi.ts";
import { referencePage } from "../pages/reference.tsx";
import { remembering } from "../remembering.ts";
import { html } from "./answers.ts";
import type { ApiDocument } from "./document.ts";
import { operations } from "./schemas.ts";

/** The developers' page, for search engines as well; `describe` gives the OpenAPI document in a language. */
export function createReference(describe: (language: string) => ApiDocument) {
  const render = remembering((language) =>
    referencePage(language, describe(language) as unknown as ApiDescription, operations.document.path),
  );
  return (request: Request): Response =>
    html(request, 200, render, { "X-Robots-Tag": "all", "Cache-Control": "private, no-cache" });
}
