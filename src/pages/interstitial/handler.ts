import type { Asked } from "../../http/call.ts";
import { problemAnswer } from "../../http/problems.ts";
import { FORM_LEADS_ELSEWHERE, html } from "../../http/responses.ts";
import type { Clock } from "../../links/clock.ts";
import { isGuarded } from "../../links/link.ts";
import type { Links } from "../../links/links.ts";
import { isProblem } from "../../links/problem.ts";
import { hintsOf } from "../../moderation/link-hints.ts";
import { changedOf, minutesLeftOf } from "../shared/remaining-time.ts";
import { interstitialPage } from "./page.tsx";

export interface InterstitialPageOptions {
  readonly links: Pick<Links, "resolve">;
  readonly clock: Pick<Clock, "nowMs">;
}

/** The preview at the short address itself, without visits: for people whom the link does not lead on at once. */
export function createInterstitialPage({ links, clock }: InterstitialPageOptions) {
  return async (call: Asked): Promise<Response> => {
    const link = await links.resolve(call.code);
    if (isProblem(link)) return problemAnswer(call, link);
    const nowMs = clock.nowMs();
    const hints = hintsOf(link, nowMs);
    const changed = changedOf(link, nowMs);
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
