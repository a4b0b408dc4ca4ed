/** @jsxImportSource ../shared/html */
import type { ApiViewParts } from "../../api/parts.ts";
import type { DetachedCall } from "../../http/call.ts";
import type { View } from "../../http/endpoint.ts";
import type { Page } from "../../http/page.ts";
import { FORM_REDIRECTS_ELSEWHERE, html } from "../../http/responses.ts";
import { type Link, isGuarded, isLimited } from "../../links/link.ts";
import { isProblem } from "../../links/problem.ts";
import { message } from "../../locales/messages.ts";
import { hintsOf } from "../../moderation/link-hints.ts";
import { answerPageProblem } from "../problem/answer.ts";
import { describeDestination } from "../shared/destination-parts.ts";
import { DestinationCard } from "../shared/destination.tsx";
import { richMessage } from "../shared/formats.ts";
import { page } from "../shared/layout.tsx";
import { Lifetime, targetChangeOf } from "../shared/link-facts.tsx";
import { Address, Ticket, withoutScheme } from "../shared/ticket.tsx";
import { type LinkNotes, minutesLeftOf } from "../shared/warnings.tsx";

interface Interstitial extends Pick<Link, "code" | "target" | "createdMs">, LinkNotes {
  readonly shortUrl: string;
  /** Continuing sends a request to Curt, which may count the visit. */
  readonly returnsToCurt: boolean;
  /** Continuing uses one of a limited number of visits. */
  readonly usesVisit: boolean;
}

/**
 * Shows the destination of a link that somebody has followed. Unless `returnsToCurt` is set, this visit is counted and the
 * button opens the destination directly.
 */
function interstitialPage(language: string, link: Interstitial): Page {
  const { code, shortUrl, target, returnsToCurt, usesVisit } = link;
  const address = withoutScheme(shortUrl);
  const path = `/${encodeURIComponent(code)}`;
  return page(
    language,
    { title: `${message(language, "interstitial.title")} – ${address}` },
    <>
      <h1>{message(language, "interstitial.title")}</h1>
      <p class="soft">
        {richMessage(language, "interstitial.why", { address: <bdi dir="ltr">{address}</bdi> })}
      </p>
      {usesVisit && <p>{message(language, "interstitial.counts")}</p>}
      <Ticket stub={<Address language={language} url={shortUrl} isTitle={false} preview={`${path}+`} />}>
        <DestinationCard
          language={language}
          destination={describeDestination(target)}
          {...link}
          isOver={false}
          href={returnsToCurt ? `${path}/` : target}
          method={returnsToCurt ? "post" : undefined}
          showsAddress
          isFirst
        />
      </Ticket>
      <Lifetime language={language} hasEnded={false} {...link} terms={undefined} />
    </>,
  );
}

/** The preview at the short address itself, for people who should see the destination first. */
export const interstitial = {
  at: "GET /{code}",
  view: { parameters: ["language"], render: showInterstitial },
} satisfies { readonly at: string; readonly view: View<undefined, ApiViewParts> };

function showInterstitial({ links, clock }: Pick<ApiViewParts, "links" | "clock">) {
  return async (call: DetachedCall): Promise<Response> => {
    const link = await links.resolve(call.code);
    if (isProblem(link)) return answerPageProblem(call, link);
    const nowMs = clock.nowMs();
    const hints = hintsOf(link, nowMs);
    const changed = targetChangeOf(link, nowMs);
    const minutesLeft = minutesLeftOf(link, nowMs);
    const shortUrl = call.domain.shownUrl(link.code);
    const returnsToCurt = isGuarded(link);
    const usesVisit = isLimited(link);
    return html(
      call,
      200,
      (language) =>
        interstitialPage(language, {
          ...link,
          shortUrl,
          hints,
          changed,
          minutesLeft,
          returnsToCurt,
          usesVisit,
        }),
      returnsToCurt ? FORM_REDIRECTS_ELSEWHERE : {},
    );
  };
}
