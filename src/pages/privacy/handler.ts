import type { DetachedCall } from "../../http/call.ts";
import { FINDABLE, html } from "../../http/responses.ts";
import { privacyPage, type Privacy } from "./page.tsx";

/** The page that says what is kept of visitors. */
export function createPrivacy(privacy: Privacy) {
  return (call: DetachedCall): Response =>
    html(call, 200, (language) => privacyPage(language, privacy), FINDABLE);
}
