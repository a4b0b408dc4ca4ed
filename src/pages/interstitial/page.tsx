/** @jsxImportSource ../shared/html */
import type { ApiViewParts } from "../../api/api-parts.ts";
import type { DetachedCall } from "../../http/call.ts";
import type { View } from "../../http/endpoint.ts";
import type { Page } from "../../http/page.ts";
import { FORM_REDIRECTS_ELSEWHERE, html } from "../../http/responses.ts";
import { isGuarded, isLimited, type Public, shownCode } from "../../links/link.ts";
import { isProblem } from "../../links/problem.ts";
import type { Target } from "../../links/target.ts";
import { visitedPath } from "../../links/terms/passed-path.ts";
import { message } from "../../locales/messages.ts";
import { hintsOf } from "../../moderation/link-hints.ts";
import { answerPageProblem } from "../problem/answer.ts";
import { describeDestination } from "../shared/destination-parts.ts";
import { DestinationCard } from "../shared/destination.tsx";
import { richMessage, sentences } from "../shared/in-words.ts";
import { page } from "../shared/layout.tsx";
import { Lifetime, targetChangeOf } from "../shared/link-facts.tsx";
import { Address, Ticket, withoutScheme } from "../shared/ticket.tsx";
import { type LinkNotes, minutesLeftOf } from "../shared/warnings.tsx";
import { withPathOf } from "../shared/with-query.ts";

interface Interstitial extends Pick<Public, "target" | "createdMs">, LinkNotes {
  readonly code: string;
  readonly shortUrl: string;
  /** The path after the code of the visit, or "". */
  readonly visited: string;
  /** Continuing sends a request to Curt, which may count the visit. */
  readonly returnsToCurt: boolean;
  /** Continuing uses one of a limited number of visits. */
  readonly usesVisit: boolean;
  /** Tells this form from others. Only for a link with a limited number of visits. */
  readonly form: string | undefined;
  readonly sent: string | undefined;
}

/**
 * Shows the destination of a link that somebody has followed. Unless `returnsToCurt` is set, this visit is counted and the
 * button opens the destination directly.
 */
function interstitialPage(language: string, link: Interstitial): Page {
  const { code, shortUrl, visited, target, returnsToCurt, usesVisit, sent } = link;
  const address = withoutScheme(shortUrl);
  const path = `/${encodeURIComponent(code)}`;
  return page(
    language,
    { title: `${message(language, "interstitial.title")} – ${address}`, ...(sent !== undefined && { sent }) },
    <>
      <h1>{message(language, "interstitial.title")}</h1>
      <p class="lead">
        {sentences(
          language,
          richMessage(language, "interstitial.why", { address: <bdi dir="ltr">{address}</bdi> }),
          usesVisit && message(language, "interstitial.counts"),
        )}
      </p>
      <Ticket
        stub={
          <Address
            language={language}
            url={shortUrl}
            isTitle={false}
            preview={withPathOf(`${path}+`, visited)}
          />
        }
      >
        <DestinationCard
          language={language}
          destination={describeDestination(target)}
          {...link}
          isOver={false}
          href={returnsToCurt ? `${path}/` : target}
          method={returnsToCurt ? "post" : undefined}
          form={link.form}
          showsAddress
          isFirst
        />
      </Ticket>
      <Lifetime language={language} hasEnded={false} {...link} terms={undefined} />
    </>,
  );
}

/** Facts about a visit that only the serving thread knows. */
export interface InterstitialDetails {
  readonly form?: string;
  /** With the path that the visit passes on. */
  readonly target?: Target;
  /** That path. */
  readonly path?: string | undefined;
  /** The visitor's query, if the link passes it on. */
  readonly sent?: string;
}

/** The preview at the short address itself, for people who should see the destination first. */
export const interstitial = {
  at: "GET /{code}",
  view: { parameters: ["language"], render: showInterstitial },
} satisfies { readonly at: string; readonly view: View<InterstitialDetails | undefined, ApiViewParts> };

function showInterstitial({ links, clock }: Pick<ApiViewParts, "links" | "clock">) {
  return async (
    call: DetachedCall,
    { form, target, path, sent }: InterstitialDetails = {},
  ): Promise<Response> => {
    const link = await links.resolve(call.code);
    if (isProblem(link)) return answerPageProblem(call, link);
    const nowMs = clock.nowMs();
    const hints = hintsOf(link, nowMs);
    const changed = targetChangeOf(link, nowMs);
    const minutesLeft = minutesLeftOf(link, nowMs);
    const code = shownCode(link);
    const shortUrl = call.domain.shownUrl(code);
    const returnsToCurt = isGuarded(link);
    const usesVisit = isLimited(link);
    return html(
      call,
      200,
      (language) =>
        interstitialPage(language, {
          ...link,
          code,
          target: target ?? link.target,
          shortUrl,
          visited: visitedPath(link, path ?? null),
          hints,
          changed,
          minutesLeft,
          returnsToCurt,
          usesVisit,
          form,
          sent,
        }),
      returnsToCurt ? FORM_REDIRECTS_ELSEWHERE : {},
    );
  };
}
