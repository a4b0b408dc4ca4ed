/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import { editableUntilMs, type Edits } from "../../links/edit.ts";
import type { PublicTerms } from "../../links/link.ts";
import type { DisabledReason, EndedBy } from "../../links/problem.ts";
import { NEVER_MS } from "../../links/time.ts";
import { message, type MessageKey } from "../../locales/messages.ts";
import { managePath } from "../manage/page.tsx";
import { isDangerous, StopBand } from "../problem/page.tsx";
import { qrPath } from "../qr/qr-code.tsx";
import { Chip } from "../shared/chip.tsx";
import { describeDestination, type Destination } from "../shared/destination-parts.ts";
import { DestinationCard, destinationLabel, HostName } from "../shared/destination.tsx";
import { numberFormat, richMessage, sentences } from "../shared/in-words.ts";
import { Instant } from "../shared/instant.tsx";
import { page } from "../shared/layout.tsx";
import { Fact, FlagFact, flagsOf, InstantFact } from "../shared/link-facts.tsx";
import { Menu } from "../shared/menu.tsx";
import { AsciiAddress, CopyButton } from "../shared/share.tsx";
import { Address, ShortAddress, Ticket, withoutScheme } from "../shared/ticket.tsx";
import { describeHint, type LinkNotes } from "../shared/warnings.tsx";
import { withPathOf } from "../shared/with-query.ts";
import { Visits, type VisitsView } from "./visits-view.tsx";

export interface Preview extends VisitsView, LinkNotes {
  readonly shortUrl: string;
  /** The path after the code of the visit that led here, or "". */
  readonly visited: string;
  /** Set before the link starts, which only its maker sees. */
  readonly startsMs?: number | undefined;
  /** Undefined if it is secret, behind the link's password. */
  readonly target: string | undefined;
  /** Set if the link ended before its time. */
  readonly endedBy?: EndedBy | undefined;
  readonly terms?: PublicTerms | undefined;
  readonly edits: Edits;
  readonly nowMs: number;
  /** Set if the link or its host is blocked. Then nothing on the page opens the destination. */
  readonly disabled?: Disabled | undefined;
}

interface Disabled {
  readonly reason: DisabledReason;
  /** Undefined for hosts on a blocklist. */
  readonly sinceMs: number | undefined;
}

/** A link's destination, facts and visits, for visitors. */
export function previewPage(language: string, preview: Preview): Page {
  const { code, shortUrl, visited, target, hints, disabled } = preview;
  const destination = target === undefined ? undefined : describeDestination(target);
  const address = withoutScheme(shortUrl);
  const { origin } = new URL(shortUrl);
  const path = `/${encodeURIComponent(code)}`;
  const state = stateOf(language, preview);
  const works = state === undefined;
  const manage = (
    <a class={works ? undefined : "quiet"} href={managePath(code)} rel="nofollow">
      {message(language, "preview.manage")}
    </a>
  );
  const isStopped = disabled !== undefined && isDangerous(disabled.reason);
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
      {isStopped ? (
        <StopBand language={language} reason={disabled.reason}>
          <p class="address">
            <ShortAddress url={shortUrl} />
          </p>
        </StopBand>
      ) : (
        <>
          <h1>{message(language, works ? "preview.title" : titleOf(preview))}</h1>
          {disabled !== undefined && <p class="lead">{state}</p>}
        </>
      )}
      <div class="columns wide">
        <div>
          <Ticket
            state={works ? undefined : "torn"}
            stub={
              <>
                <Address language={language} url={shortUrl} isTitle={false} />
                {works ? (
                  <Chip kind="works">{message(language, "links.works")}</Chip>
                ) : (
                  <Chip kind={disabled === undefined ? "ended" : "refused"}>
                    {message(language, disabled === undefined ? "chip.ended" : "links.disabled")}
                  </Chip>
                )}
              </>
            }
          >
            <DestinationCard
              {...preview}
              language={language}
              destination={destination}
              isOver={!works}
              href={works ? `${path}/` : undefined}
              showsAddress={disabled === undefined}
              isFirst
            >
              {disabled === undefined && (
                <a class="button" href={withPathOf(`${path}+report`, visited)} rel="nofollow">
                  {message(language, "preview.report")}
                </a>
              )}
              {works ? (
                <Menu
                  id="more"
                  kind="quiet"
                  label={message(language, "page.more")}
                  sign={<span aria-label={message(language, "page.more")}>⋯</span>}
                >
                  <a href={qrPath(path)} rel="nofollow">
                    {message(language, "links.qr")}
                  </a>
                  {manage}
                  <CopyButton language={language} kind="secondary" text={shortUrl} />
                </Menu>
              ) : (
                manage
              )}
            </DestinationCard>
          </Ticket>
          {works && <AsciiAddress language={language} shortUrl={shortUrl} />}
        </div>
        <PreviewFacts language={language} {...preview} isOver={!works} />
      </div>
      <div class="wide">
        <Visits language={language} {...preview} hasEnded={!works} />
      </div>
    </>,
  );
}

function titleOf({ disabled, endedBy }: Preview): MessageKey {
  if (disabled !== undefined) return "page.disabled.title";
  return endedBy === undefined ? "page.expired.title" : `page.expired.title.${endedBy}`;
}

function PreviewFacts(preview: Preview & { readonly language: string; readonly isOver: boolean }) {
  const { language, createdMs, endsMs, terms, changed, disabled, target, hasEnded, isOver } = preview;
  const { formerHost } = changed ?? {};
  return (
    <dl class="rows">
      <InstantFact language={language} name="preview.created" ms={createdMs} />
      {changed === undefined ? (
        <Fact name={message(language, "preview.leads")}>
          {sentences(language, message(language, "preview.edits.never"), !isOver && describeEdits(preview))}
        </Fact>
      ) : (
        <InstantFact language={language} name="preview.changed" ms={changed.atMs} />
      )}
      {formerHost !== undefined && (
        <Fact name={message(language, "preview.formerly")}>
          <HostName host={formerHost} />
        </Fact>
      )}
      {endsMs === NEVER_MS ? (
        <Fact name={message(language, "preview.ends")}>{message(language, "never")}</Fact>
      ) : (
        <InstantFact language={language} name={hasEnded ? "preview.ended" : "preview.ends"} ms={endsMs} />
      )}
      {terms?.maxVisits !== undefined && (
        <Fact name={message(language, "preview.max-visits")}>
          {numberFormat(language).format(terms.maxVisits)}
        </Fact>
      )}
      <Fact name={message(language, "password.label")}>
        {message(language, target === undefined ? "preview.password.yes" : "preview.password.no")}
      </Fact>
      {flagsOf({ terms }).map((name) => (
        <FlagFact {...{ language, name }} />
      ))}
      <InstantFact language={language} name="preview.disabled" ms={disabled?.sinceMs} />
    </dl>
  );
}

/** Whether the maker may still change the destination. */
function describeEdits({ language, createdMs, edits, nowMs }: Preview & { readonly language: string }) {
  if (edits !== "24h") return message(language, `preview.edits.${edits}`);
  const untilMs = editableUntilMs({ createdMs }, edits);
  const until = <Instant language={language} ms={untilMs} />;
  return richMessage(language, nowMs < untilMs ? "preview.edits.until" : "preview.edits.over", { until });
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
