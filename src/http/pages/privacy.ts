import { privacyPage, type Privacy } from "../../pages/privacy.tsx";
import { FINDABLE, html } from "../answers.ts";
import type { Asked } from "../call.ts";

/** The page that says what is kept of visitors. */
export function createPrivacy(privacy: Privacy) {
  return (call: Asked): Response => html(call, 200, (language) => privacyPage(language, privacy), FINDABLE);
}
