import { myLinksPage } from "../../pages/my-links.tsx";
import { html } from "../answers.ts";
import type { Asked } from "../call.ts";

/** The page of the links made in a browser. It is the same for everybody. */
export function showMyLinks(call: Asked): Response {
  return html(call, 200, (language) => myLinksPage(language, call.domain), {
    "Cache-Control": "private, no-cache",
  });
}
