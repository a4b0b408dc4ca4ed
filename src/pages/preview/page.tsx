/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import type { Link } from "../../links/link.ts";
import type { DisabledReason, EndedBy } from "../../links/reasons.ts";
import { message } from "../../locales/messages.ts";
import { managePath } from "../manage/page.tsx";
import { isDangerous, nextStep, StateBanner } from "../problem/page.tsx";
import { InlineQrSheet, QrImage, qrPath } from "../qr/qr-code.tsx";
import { describeDestination, type Destination } from "../shared/destination-parts.ts";
import { DestinationCard, destinationLabel } from "../shared/destination.tsx";
import { sentences } from "../shared/formats.ts";
import { page } from "../shared/layout.tsx";
import { FutureStart, Lifetime } from "../shared/link-facts.tsx";
import { AsciiAddress, CopyAddress, CopyButton } from "../shared/share.tsx";
import { Address, Ticket, withoutScheme } from "../shared/ticket.tsx";
import { describeHint, type LinkNotes } from "../shared/warnings.tsx";
import { Visits, type VisitsView } from "./visits.tsx";

export interface Preview extends VisitsView, LinkNotes {
  readonly shortUrl: string;
  /** Set before the link starts, which only its maker sees. */
  readonly startsMs?: number | undefined;
  /** Undefined if it is secret, behind the link's password. */
  readonly target: string | undefined;
  /** Set if the link ended before its time. */
  readonly endedBy?: EndedBy | undefined;
  readonly terms?: Link["terms"];
  /** Set for the browser that created the link a moment ago. */
  readonly manageKey?: string | undefined;
  /** Set if the link or its host is blocked. Then nothing on the page opens the destination. */
  readonly disabled?: Disabled | undefined;
}

interface Disabled {
  readonly reason: DisabledReason;
  /** Undefined for hosts on a blocklist. */
  readonly sinceMs: number | undefined;
}

/** A link's destination, lifetime and visits, for visitors and for its maker. */
export function previewPage(language: string, preview: Preview): Page {
  const { code, shortUrl, target, hints, startsMs, disabled, manageKey } = preview;
  const destination = target === undefined ? undefined : describeDestination(target);
  const address = withoutScheme(shortUrl);
  const { origin } = new URL(shortUrl);
  const path = `/${encodeURIComponent(code)}`;
  const state = stateOf(language, preview);
  const works = state === undefined;
  // Visitors want the destination. The maker knows it, and wants to share the link.
  const isSharedFirst = works && manageKey !== undefined;
  const isKept = manageKey !== undefined && !preview.hasEnded;
  const head = {
    title: state === undefined ? address : `${state} ${address}`,
    query: preview.query,
    card: {
      // One script can imitate another, and a card is often all that people see.
      description: [
        ...(disabled === undefined ? [] : [state]),
        ...(destination === undefined
          ? [message(language, "preview.secret")]
          : describeInCard(language, destination, works)),
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
      {isSharedFirst && (
        <p class="now" id="made" tabindex={-1}>
          {message(language, "preview.made")} <a href="/">{message(language, "preview.another")}</a>
        </p>
      )}
      {state !== undefined && (
        <StateBanner
          text={state}
          {...(disabled !== undefined && {
            next: message(language, nextStep(disabled.reason)),
            isAlarm: isDangerous(disabled.reason),
          })}
        />
      )}
      <Ticket
        state={works ? undefined : "torn"}
        stub={
          <>
            <Address
              language={language}
              url={shortUrl}
              preview={startsMs === undefined && disabled === undefined ? `${path}+` : undefined}
            />
            {works && (
              <CopyAddress
                language={language}
                kind={isSharedFirst ? "primary" : "secondary"}
                shortUrl={shortUrl}
              >
                {startsMs === undefined && (
                  <a class="button" href={qrPath(path)} rel="nofollow">
                    {message(language, "links.qr")}
                  </a>
                )}
              </CopyAddress>
            )}
            {startsMs !== undefined && <FutureStart language={language} ms={startsMs} />}
          </>
        }
        picture={
          startsMs !== undefined ? (
            <InlineQrSheet language={language} shortUrl={shortUrl} destination={destination} />
          ) : (
            works && (
              <figure class="qr aside">
                <QrImage language={language} path={path} shortUrl={shortUrl} />
              </figure>
            )
          )
        }
      >
        <DestinationCard
          {...preview}
          language={language}
          destination={destination}
          isOver={!works}
          href={works && startsMs === undefined && !isSharedFirst ? `${path}/` : undefined}
          showsAddress={disabled === undefined}
          isFirst={!isSharedFirst}
        />
        <Lifetime language={language} {...preview} disabledSinceMs={disabled?.sinceMs} />
      </Ticket>

      {isKept && <Keep {...preview} language={language} origin={origin} manageKey={manageKey} />}

      {startsMs === undefined && <Visits language={language} {...preview} hasEnded={!works} />}

      {works && <AsciiAddress language={language} shortUrl={shortUrl} />}
      {!isKept && (
        <p class="hint besides">
          <a href={managePath(code)} rel="nofollow">
            {message(language, "preview.manage")}
          </a>{" "}
          {disabled === undefined && (
            <a href={`${path}+report`} rel="nofollow">
              {message(language, "preview.report")}
            </a>
          )}
        </p>
      )}
    </>,
  );
}

/** Why the link doesn't redirect; undefined if it does. */
function stateOf(language: string, { disabled, hasEnded, endedBy }: Preview): string | undefined {
  if (disabled !== undefined) return message(language, `disabled.${disabled.reason}`);
  if (endedBy !== undefined) return message(language, `preview.expired.${endedBy}`);
  return hasEnded ? message(language, "preview.expired") : undefined;
}

function describeInCard(language: string, destination: Destination, works: boolean): string[] {
  const { host, asciiHost, isMistakable } = destination;
  return [
    `${destinationLabel(language, works)}: ${asciiHost === undefined ? host : `${host} (${asciiHost})`}`,
    ...(isMistakable ? [message(language, "preview.mistakable")] : []),
  ];
}

interface KeepProps {
  readonly language: string;
  readonly code: string;
  readonly createdMs: number;
  readonly origin: string;
  readonly manageKey: string;
}

/** The manage link of a new link. The script stores the key with the links created here. */
function Keep({ language, code, createdMs, origin, manageKey }: KeepProps) {
  const address = `${origin}/${encodeURIComponent(code)}+#key=${manageKey}`;
  return (
    <section
      class="keep"
      aria-labelledby="keep"
      data-key={manageKey}
      data-link={`/api/v1/links/${encodeURIComponent(code)}`}
      data-created={new Date(createdMs).toISOString()}
    >
      <h2 id="keep" class="unseen">
        {message(language, "keep.title")}
      </h2>
      <form method="post" action={managePath(code)}>
        <input type="hidden" name="key" value={manageKey} />
        <div class="actions">
          <button>{message(language, "preview.manage")}</button>
          <input value={address} inputmode="url" aria-labelledby="keep" readonly />
          <CopyButton language={language} kind="secondary" label="keep.copy" text={address} />
        </div>
      </form>
      <p class="hint">
        {sentences(
          language,
          message(language, "keep.meaning"),
          <span data-kept>{message(language, "keep.here")}</span>,
        )}
      </p>
    </section>
  );
}
