import type { Asked } from "../../http/call.ts";
import { html } from "../../http/responses.ts";
import { myLinksPage } from "./page.tsx";

/** The page of the links made in a browser. It is the same for everybody. */
export function showMyLinks(call: Asked): Response {
  return html(call, 200, (language) => myLinksPage(language, call.domain), {
    "Cache-Control": "private, no-cache",
  });
}
