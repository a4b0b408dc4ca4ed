/** @jsxImportSource ../shared/html */
import type { Link } from "../../links/link.ts";
import { message } from "../../locales/messages.ts";
import { describeDestination } from "../shared/destination-parts.ts";
import { DestinationCard } from "../shared/destination.tsx";
import { richMessage } from "../shared/formats.ts";
import { type Page, page } from "../shared/layout.tsx";
import { Lifetime } from "../shared/link-facts.tsx";
import type { LinkNotes } from "../shared/warnings.tsx";

export interface Interstitial extends Pick<Link, "code" | "target" | "createdMs">, LinkNotes {
  readonly shortUrl: string;
  /** Continuing sends a request to Curt, which may count the visit. */
  readonly asksAgain: boolean;
  /** Continuing uses one of a limited number of visits. */
  readonly usesVisit: boolean;
}

/**
 * The destination of a link that somebody has followed. Unless `asksAgain` is set, this visit is counted and the button
 * opens the destination directly.
 */
export function interstitialPage(language: string, link: Interstitial): Page {
  const { code, shortUrl, target, asksAgain, usesVisit } = link;
  const address = shortUrl.replace(/^https?:\/\//, "");
  return page(
    language,
    { title: `${message(language, "interstitial.title")} – ${address}` },
    <>
      <h1>{message(language, "interstitial.title")}</h1>
      <p class="soft">
        {richMessage(language, "interstitial.why", { address: <bdi dir="ltr">{address}</bdi> })}
      </p>
      {usesVisit && <p>{message(language, "interstitial.counts")}</p>}
      <DestinationCard
        language={language}
        destination={describeDestination(target)}
        {...link}
        isOver={false}
        href={asksAgain ? `/${encodeURIComponent(code)}/` : target}
        method={asksAgain ? "post" : undefined}
        showsAddress
        isFirst
      />
      <Lifetime language={language} hasEnded={false} {...link} />
    </>,
  );
}
