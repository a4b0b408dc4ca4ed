/** @jsxImportSource ../shared/html */
import type { Link } from "../../links/link.ts";
import { message } from "../../locales/messages.ts";
import { describeDestination } from "../shared/destination-parts.ts";
import { Leads } from "../shared/destination.tsx";
import { type Page, page } from "../shared/layout.tsx";
import { Lifetime } from "../shared/lifetime.tsx";
import type { Noted } from "../shared/warnings.tsx";

export interface InterstitialShown extends Pick<Link, "code" | "target" | "createdMs">, Noted {
  /** The short address, in readable Unicode. */
  readonly shortUrl: string;
  /** Going on asks Curt once more, which may count the visit. */
  readonly asksAgain: boolean;
  /** Going on uses one of a limited number of visits. */
  readonly usesVisit: boolean;
}

/** Where a link leads, for people who have followed it. Unless it `asksAgain`, the button leads straight there: their visit is counted. */
export function interstitialPage(language: string, link: InterstitialShown): Page {
  const { code, shortUrl, target, asksAgain, usesVisit } = link;
  const address = shortUrl.replace(/^https?:\/\//, "");
  const [before, after] = message(language, "interstitial.why").split("{address}");
  return page(
    language,
    { title: `${message(language, "interstitial.title")} – ${address}` },
    <>
      <h1>{message(language, "interstitial.title")}</h1>
      <p class="soft">
        {before}
        <bdi dir="ltr">{address}</bdi>
        {after}
      </p>
      {usesVisit && <p>{message(language, "interstitial.counts")}</p>}
      <Leads
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
