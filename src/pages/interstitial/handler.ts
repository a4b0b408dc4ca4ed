import type { DetachedCall } from "../../http/call.ts";
import { problemAnswer } from "../../http/problems.ts";
import { FORM_LEADS_ELSEWHERE, html } from "../../http/responses.ts";
import type { Clock } from "../../links/clock.ts";
import { isGuarded } from "../../links/link.ts";
import type { Links } from "../../links/links.ts";
import { isProblem } from "../../links/problem.ts";
import { hintsOf } from "../../moderation/link-hints.ts";
import { targetChangeOf } from "../shared/link-facts.tsx";
import { minutesLeftOf } from "../shared/warnings.tsx";
import { interstitialPage } from "./page.tsx";

export interface InterstitialPageOptions {
  readonly links: Pick<Links, "resolve">;
  readonly clock: Pick<Clock, "nowMs">;
}

/** The preview at the short address itself, for people who should see the destination first. */
export function createInterstitialPage({ links, clock }: InterstitialPageOptions) {
  return async (call: DetachedCall): Promise<Response> => {
    const link = await links.resolve(call.code);
    if (isProblem(link)) return problemAnswer(call, link);
    const nowMs = clock.nowMs();
    const hints = hintsOf(link, nowMs);
    const changed = targetChangeOf(link, nowMs);
    const minutesLeft = minutesLeftOf(link, nowMs);
    const shortUrl = call.domain.shortUrl(link.code);
    const asksAgain = isGuarded(link);
    const usesVisit = link.terms?.maxVisits !== undefined;
    return html(
      call,
      200,
      (language) =>
        interstitialPage(language, { ...link, shortUrl, hints, changed, minutesLeft, asksAgain, usesVisit }),
      asksAgain ? FORM_LEADS_ELSEWHERE : {},
    );
  };
}
