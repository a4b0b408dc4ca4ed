/** @jsxImportSource ../shared/html */
import type { Link, StoredLink } from "../../links/link.ts";
import { REASONS } from "../../links/problem.ts";
import { NEVER_MS } from "../../links/time.ts";
import { whenAgo } from "../../locales/relative-time.ts";
import { mainReason, type NotedCase } from "../../moderation/case.ts";
import { groupOf, type OpenCase, visitsOf } from "../../moderation/harm.ts";
import { hintsOf } from "../../moderation/link-hints.ts";
import { Chip } from "../shared/chip.tsx";
import { describeDestination } from "../shared/destination-parts.ts";
import { FullAddress, Host } from "../shared/destination.tsx";
import { numberFormat } from "../shared/in-words.ts";
import { Instant } from "../shared/instant.tsx";
import { Fact, targetChangeOf } from "../shared/link-facts.tsx";
import { CopyButton } from "../shared/share.tsx";
import { minutesLeftOf, NoteList, notesOf } from "../shared/warnings.tsx";
import { Key } from "./key.tsx";
import { Given } from "./link-to.tsx";
import type { PageContext } from "./page-context.ts";

/** Notes in view. The rest folds. */
const MAX_NOTES = 2;
/** In UTF-16 units. Notes have up to 2,000 characters, which would push everything else out of sight. */
const LONG_NOTE = 240;

export function isThere<T extends Pick<Link, "disabled">>(link: T | undefined): link is T {
  return link !== undefined && link.disabled !== "deleted";
}

interface DestinationProps {
  readonly context: PageContext;
  readonly link: StoredLink;
  readonly works: boolean;
  /** Of its title. */
  readonly Title: "h2" | "h3";
}

/** The destination with the warnings that visitors see. It is text, so that nobody opens it by accident. */
export function LinkDestination({ context, link, works, Title }: DestinationProps) {
  const { language, say, nowMs } = context;
  const destination = describeDestination(link.target);
  const facts = { changed: targetChangeOf(link, nowMs), minutesLeft: minutesLeftOf(link, nowMs) };
  const { warnings, notes } = notesOf(
    language,
    { ...facts, hints: hintsOf(link, nowMs), endsMs: link.endsMs },
    destination,
  );
  return (
    <section class={works ? "leads" : "leads over"} aria-labelledby="leads">
      <Title id="leads">{say(works ? "preview.leads" : "preview.led")}</Title>
      <Host language={language} destination={destination} />
      <div class="copied">
        <FullAddress language={language} address={destination.address} />
        <span>
          <Key name="C" />
          <CopyButton language={language} kind="quiet" text={link.target} shortcut="c" />
        </span>
      </div>
      <NoteList kind="warnings" notes={warnings} />
      <NoteList kind="hints" notes={notes} />
    </section>
  );
}

/** How often a link was reported for each reason. */
function reasonsOf({ say }: PageContext, { reports, reasons }: NotedCase): string {
  return REASONS.filter((reason) => reasons[reason] !== undefined)
    .map((reason) => {
      const name = say(`reason.${reason}`);
      return reports === reasons[reason]
        ? name
        : say("admin.reports.reason", { reason: name, count: String(reasons[reason]) });
    })
    .join(", ");
}

/** How often a link was reported, since when, and the operator's answer. */
export function ReportFacts({ context, one }: { context: PageContext; one: NotedCase }) {
  const { language, say, nowMs } = context;
  const { reports, firstMs, lastMs, answer } = one;
  const ago = (ms: number) => whenAgo(language, (nowMs - ms) / 1000);
  const [first, last] = [ago(firstMs), ago(lastMs)];
  const ages = first === last ? first : say("admin.reports.ages", { first, last });
  const answered = answer && ` · ${say(`admin.answered.${answer.action}`)}, ${ago(answer.atMs)}`;
  return (
    <p>
      <strong>{say("admin.reports", { count: reports })}</strong>
      {` · ${ages}`}
      {answered}
    </p>
  );
}

export function Notes({ context, one }: { context: PageContext; one: NotedCase }) {
  const { language, say } = context;
  const { notes, reports } = one;
  const list = (some: NotedCase["notes"]) =>
    some.map(({ atMs, reason, note }) => (
      <li>
        <LongNote text={note} />
        <div class="hint">
          {say(`reason.${reason}`)} · <Instant language={language} ms={atMs} />
        </div>
      </li>
    ));
  const more = notes.slice(MAX_NOTES);
  return (
    <>
      <ul class="notes">
        {list(notes.slice(0, MAX_NOTES))}
        {reports > notes.length && (
          <li class="hint">{say("admin.notes.without", { count: reports - notes.length })}</li>
        )}
      </ul>
      {more.length > 0 && (
        <details>
          <summary>{say("preview.more", { count: more.length })}</summary>
          <ul class="notes">{list(more)}</ul>
        </details>
      )}
    </>
  );
}

/** Its rest folds. */
function LongNote({ text }: { text: string }) {
  const [beginning, rest] = [text.slice(0, LONG_NOTE), text.slice(LONG_NOTE)].map((part) =>
    part.toWellFormed(),
  );
  if (!rest) return <Given text={text} />;
  return (
    <details>
      <summary>
        <Given text={`${beginning}…`} />
      </summary>
      <Given text={`…${rest}`} />
    </details>
  );
}

/** The reason of most reports, marked if it is harm. */
export function ReasonChip({ context, one }: { context: PageContext; one: OpenCase }) {
  const { say, nowMs } = context;
  const isHarm = groupOf(one, nowMs) === "harm";
  return <Chip {...(isHarm && { kind: "refused" })}>{say(`reason.${mainReason(one)}`)}</Chip>;
}

interface FiguresProps {
  readonly context: PageContext;
  readonly createdMs: number;
  /** Set to show its end. */
  readonly link?: StoredLink | undefined;
  readonly hours: readonly number[];
  /** Since its creation. */
  readonly visits: number;
  readonly reported: NotedCase | undefined;
}

/** The age of a link, its visits and its reports. */
export function Figures({ context, createdMs, link, hours, visits, reported }: FiguresProps) {
  const { language, say, nowMs } = context;
  const { format } = numberFormat(language);
  return (
    <dl class="four">
      <Fact name={say("preview.created")}>
        <strong>{whenAgo(language, (nowMs - createdMs) / 1000)}</strong>{" "}
        {link !== undefined && (
          <small>
            {link.endsMs === NEVER_MS ? (
              say("home.endless")
            ) : (
              <>
                {say("preview.ends")} <Instant language={language} ms={link.endsMs} />
              </>
            )}
          </small>
        )}
      </Fact>
      <Fact name={say("admin.day")}>
        <strong>{format(visitsOf({ hours }))}</strong> <HourBars hours={hours} />
      </Fact>
      <Fact name={say("preview.visits")}>
        <strong>{format(visits)}</strong>
      </Fact>
      {reported !== undefined && (
        <Fact name={say("admin.count.reports")}>
          <strong>{format(reported.reports)}</strong> <small>{reasonsOf(context, reported)}</small>
        </Fact>
      )}
    </dl>
  );
}

/** In the units of the drawing. */
const [BAR, HEIGHT] = [4, 20];

function HourBars({ hours }: { hours: readonly number[] }) {
  const top = Math.max(...hours, 1);
  return (
    <svg class="hours" viewBox={`0 0 ${BAR * hours.length} ${HEIGHT}`} aria-hidden="true">
      {hours.map((visits, nth) => {
        const height = Math.max(1, Math.round((visits / top) * HEIGHT));
        return <rect x={nth * BAR} y={HEIGHT - height} width={BAR - 1} height={height} />;
      })}
    </svg>
  );
}
