/** @jsxImportSource ../shared/html */
import type { DisabledReason, EndedBy } from "../../links/link.ts";
import { message } from "../../locales/messages.ts";
import { managePath } from "../manage/page.tsx";
import { nextStep } from "../problem/page.tsx";
import { QrCode, withoutScheme } from "../qr/qr-code.tsx";
import { QrDrawn } from "../qr/qr-image.tsx";
import { describeDestination, type Destination } from "../shared/destination-parts.ts";
import { Leads, leadsTo } from "../shared/destination.tsx";
import { type Page, page } from "../shared/layout.tsx";
import { Lifetime } from "../shared/lifetime.tsx";
import { Address, CopyAddress } from "../shared/share.tsx";
import { Begins } from "../shared/start-date.tsx";
import { describeHint, type Noted } from "../shared/warnings.tsx";
import { Keep } from "./manage-key.tsx";
import { Visits, type VisitsShown } from "./visits.tsx";

export interface Preview extends VisitsShown, Noted {
  /** The short address, in readable Unicode. */
  readonly shortUrl: string;
  /** Set if it has not begun. Only its maker sees that. */
  readonly startsMs?: number | undefined;
  /** Undefined if only those who know the password are told. */
  readonly target: string | undefined;
  /** Set if it has not ended because its time was over. */
  readonly endedBy?: EndedBy | undefined;
  /** Set if it ends after so many. */
  readonly maxVisits?: number | undefined;
  /** Only for whoever has just made the link. */
  readonly manageKey?: string | undefined;
  /** Set if the link is disabled, or a rule about its host applies. Then the page does not lead to the destination. */
  readonly disabled?: Disabled | undefined;
}

interface Disabled {
  readonly reason: DisabledReason;
  /** Unknown for hosts on a blocklist. */
  readonly sinceMs: number | undefined;
}

/** Where a link leads, since when, until when, and its visits: for who is about to follow it, and for its maker. */
export function previewPage(language: string, preview: Preview): Page {
  const { code, shortUrl, target, hints, startsMs, disabled, manageKey } = preview;
  const destination = target === undefined ? undefined : describeDestination(target);
  const shown = withoutScheme(shortUrl);
  const { origin } = new URL(shortUrl);
  const path = `/${encodeURIComponent(code)}`;
  const state = stateOf(language, preview);
  const leadsOn = state === undefined;
  // A visitor asks where the link leads. Whoever has just made it knows that, and wants to pass it on.
  const isSharedFirst = leadsOn && manageKey !== undefined;
  const isKept = manageKey !== undefined && !preview.hasEnded;
  const head = {
    title: state === undefined ? shown : `${state} ${shown}`,
    query: preview.query,
    card: {
      // One script can imitate another, and a card is often all that people see.
      description: [
        ...(disabled === undefined ? [] : [state]),
        ...(destination === undefined
          ? [message(language, "preview.secret")]
          : describeInCard(language, destination, leadsOn)),
        // The card stays in the chat when the change is old.
        ...hints.filter(({ hint }) => hint !== "changed").map((hint) => describeHint(language, hint)),
      ].join(" – "),
      origin,
      path: `${path}+`,
    },
  };
  return page(
    language,
    head,
    <>
      <p class={isSharedFirst ? "made now" : "made"} id="made" tabindex={-1}>
        {message(language, "preview.made")} <a href="/">{message(language, "preview.another")}</a>
      </p>
      {isSharedFirst ? (
        <div class="sides">
          <div>
            <Address url={shown} isTitle />
            <CopyAddress language={language} kind="primary" shortUrl={shortUrl} />
            {startsMs !== undefined && <Begins language={language} ms={startsMs} />}
          </div>
          {startsMs === undefined ? (
            <QrCode language={language} path={path} shortUrl={shortUrl} destination={destination} />
          ) : (
            <QrDrawn language={language} shortUrl={shortUrl} destination={destination} />
          )}
        </div>
      ) : (
        <Address url={shown} />
      )}
      {state !== undefined && <p class="error">{state}</p>}
      {disabled !== undefined && <p class="soft">{message(language, nextStep(disabled.reason))}</p>}

      {isKept && <Keep {...preview} language={language} origin={origin} manageKey={manageKey} />}

      <Leads
        {...preview}
        language={language}
        destination={destination}
        isOver={!leadsOn}
        href={leadsOn && startsMs === undefined ? `${path}/` : undefined}
        showsAddress={disabled === undefined}
        isFirst={!isSharedFirst}
      />

      <Lifetime language={language} {...preview} disabledSinceMs={disabled?.sinceMs} />

      {startsMs === undefined && <Visits language={language} {...preview} hasEnded={!leadsOn} />}

      {leadsOn && !isSharedFirst && (
        <section aria-labelledby="share">
          <h2 id="share">{message(language, "preview.share")}</h2>
          <div class="sides">
            <div>
              <CopyAddress language={language} kind="secondary" shortUrl={shortUrl} />
            </div>
            <QrCode language={language} path={path} shortUrl={shortUrl} destination={destination} />
          </div>
        </section>
      )}

      <p class="hint besides">
        {!isKept && (
          <a href={managePath(code)} rel="nofollow">
            {message(language, "preview.manage")}
          </a>
        )}
        {disabled === undefined && (
          <a href={`${path}+report`} rel="nofollow">
            {message(language, "preview.report")}
          </a>
        )}
      </p>
    </>,
  );
}

/** Why the link leads nowhere, if so. */
function stateOf(language: string, { disabled, hasEnded, endedBy }: Preview): string | undefined {
  if (disabled !== undefined) return message(language, `disabled.${disabled.reason}`);
  if (endedBy !== undefined) return message(language, `preview.expired.${endedBy}`);
  return hasEnded ? message(language, "preview.expired") : undefined;
}

function describeInCard(language: string, destination: Destination, leadsOn: boolean): string[] {
  const { host, asciiHost, isMistakable } = destination;
  return [
    `${leadsTo(language, leadsOn)}: ${asciiHost === undefined ? host : `${host} (${asciiHost})`}`,
    ...(isMistakable ? [message(language, "preview.mistakable")] : []),
  ];
}
