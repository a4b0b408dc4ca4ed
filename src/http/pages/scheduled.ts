import type { Links } from "../../links/links.ts";
import { isProblem } from "../../links/problem.ts";
import { scheduledPage } from "../../pages/scheduled.tsx";
import { html } from "../answers.ts";
import type { Asked } from "../call.ts";
import { problemAnswer } from "../problems.ts";
import type { JustMade } from "./made.ts";

/** The preview of a link that has not begun, for the browser that has just made it. */
export function createScheduled({ links }: { readonly links: Pick<Links, "find"> }) {
  return async (call: Asked, data: string): Promise<Response> => {
    const { manageKey } = JSON.parse(data) as JustMade;
    const link = await links.find(call.code, "maker");
    if (isProblem(link)) return problemAnswer(call, link);
    const shortUrl = call.domain.shortUrl(link.code);
    return html(call, 200, (language) => scheduledPage(language, { ...link, shortUrl, manageKey }));
  };
}
