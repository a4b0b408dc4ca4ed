import type { Asked } from "../../http/call.ts";
import { FINDABLE, html } from "../../http/responses.ts";
import { privacyPage, type Privacy } from "./page.tsx";

/** The page that says what is kept of visitors. */
export function createPrivacy(privacy: Privacy) {
  return (call: Asked): Response => html(call, 200, (language) => privacyPage(language, privacy), FINDABLE);
}
