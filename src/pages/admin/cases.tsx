/** @jsxImportSource ../shared/html */
import { versionOf } from "../../links/change.ts";
import type { Link, StoredLink } from "../../links/link.ts";
import { REASONS } from "../../links/reasons.ts";
import { DAY_MS } from "../../links/time.ts";
import { message, type MessageKey } from "../../locales/messages.ts";
import { whenAgo } from "../../locales/relative-time.ts";
import { ANSWERS, mainReason, type NotedCase } from "../../moderation/case.ts";
import type { InspectedCase, ListItems } from "../../moderation/inspection.ts";
import { hintsOf } from "../../moderation/link-hints.ts";
import { describeDestination } from "../shared/destination-parts.ts";
import { FullAddress, Host } from "../shared/destination.tsx";
import { Instant } from "../shared/instant.tsx";
import { targetChangeOf } from "../shared/link-facts.tsx";
import { minutesLeftOf, NoteList, notesOf } from "../shared/warnings.tsx";
import { Empty, Form, Given, LinkTo, More, type PageContext, ReasonAndNote } from "./frame.tsx";
import { stateInWords } from "./links.tsx";

export interface Cases extends ListItems<InspectedCase> {
  readonly nowMs: number;
}

const KEYS = { disable: "d", "block-host": "b", nothing: "x" } as const;
/** Older cases, and those with this number of reports, stand out. */
const PRESSING = { ageMs: 3 * DAY_MS, reports: 5 };
/** Notes in view. The rest folds. */
const MAX_NOTES = 2;
/** In UTF-16 units. Notes have up to 2,000 characters, which would push the other cases out of sight. */
const LONG_NOTE = 240;

/** Cases, each with the form that answers it. */
export function CaseList({ context, cases }: { context: PageContext; cases: Cases }) {
  const { language } = context;
  const { items, cursor, nowMs } = cases;
  if (items.length === 0) return <Empty language={language} texts={["admin.nothing", "admin.cases.empty"]} />;
  return (
    <>
      {items.map((one, nth) => (
        <article class="case split" tabindex={-1} autofocus={nth === 0 && one.answer === undefined}>
          <div>
            <ReportFacts language={language} one={one} nowMs={nowMs} />
            <h2>
              <LinkTo code={one.code} />
            </h2>
            <span class="soft">
              {one.link === undefined
                ? message(language, "admin.state.deleted")
                : stateInWords(language, one.link, nowMs)}
            </span>
            {isThere(one.link) && <LinkDestination language={language} link={one.link} nowMs={nowMs} />}
            <Notes language={language} notes={one.notes} />
          </div>
          {one.answer === undefined && <AnswerForm context={context} one={one} link={one.link} />}
        </article>
      ))}
      {cursor !== undefined && <More language={language} path="/admin" query={{ cursor }} />}
    </>
  );
}

/** The keys of the desk, which its script handles. */
export function Keys({ language }: { language: string }) {
  const keys: readonly (readonly [key: string, MessageKey])[] = [
    ["j", "admin.keys.next"],
    ["k", "admin.keys.previous"],
    ...ANSWERS.map((action) => [KEYS[action], `admin.do.${action}`] as const),
    ["u", "admin.undo"],
    ["/", "admin.search"],
    ["?", "admin.keys"],
  ];
  return (
    <>
      <button
        class="keys"
        popovertarget="keys"
        aria-label={message(language, "admin.keys")}
        aria-keyshortcuts="?"
      >
        ?
      </button>
      <ul class="rows" id="keys" popover="auto">
        {keys.map(([key, text]) => (
          <li>
            <kbd>{key}</kbd> {message(language, text)}
          </li>
        ))}
      </ul>
    </>
  );
}

function isThere<T extends Pick<Link, "disabled">>(link: T | undefined): link is T {
  return link !== undefined && link.disabled !== "deleted";
}

interface LinkDestinationProps {
  readonly language: string;
  readonly link: StoredLink;
  readonly nowMs: number;
}

/** The destination with the warnings that visitors see. It is text, so that nobody opens it by accident. */
export function LinkDestination({ language, link, nowMs }: LinkDestinationProps) {
  const destination = describeDestination(link.target);
  const facts = { changed: targetChangeOf(link, nowMs), minutesLeft: minutesLeftOf(link, nowMs) };
  const { warnings, notes } = notesOf(
    language,
    { ...facts, hints: hintsOf(link, nowMs), endsMs: link.endsMs },
    destination,
  );
  return (
    <>
      <Host language={language} destination={destination} />
      <NoteList kind="warnings" notes={warnings} />
      <FullAddress language={language} address={destination.address} />
      <NoteList kind="hints" notes={notes} />
    </>
  );
}

interface ReportFactsProps {
  readonly language: string;
  readonly one: Pick<NotedCase, "reports" | "reasons" | "firstMs" | "lastMs" | "answer">;
  readonly nowMs: number;
}

/** How often a link was reported for each reason, since when, and the operator's answer. */
export function ReportFacts({ language, one, nowMs }: ReportFactsProps) {
  const { reports, reasons, firstMs, lastMs, answer } = one;
  const counts = REASONS.filter((reason) => reasons[reason] !== undefined).map((reason) => {
    const name = message(language, `reason.${reason}`);
    return reports === reasons[reason]
      ? name
      : message(language, "admin.reports.reason", { reason: name, count: String(reasons[reason]) });
  });
  const isOpen = answer === undefined;
  const mark = (isPressing: boolean) => (isOpen && isPressing ? "pressing" : undefined);
  const first = whenAgo(language, (nowMs - firstMs) / 1000);
  const last = whenAgo(language, (nowMs - lastMs) / 1000);
  return (
    <p class="reported">
      <strong class={mark(reports >= PRESSING.reports)}>
        {message(language, "admin.reports", { count: reports })}
      </strong>
      {" · "}
      <span class={mark(nowMs - firstMs >= PRESSING.ageMs)}>
        {first === last ? first : message(language, "admin.reports.ages", { first, last })}
      </span>
      {` · ${counts.join(", ")}`}
      {!isOpen &&
        ` · ${message(language, `admin.answered.${answer.action}`)}, ${whenAgo(language, (nowMs - answer.atMs) / 1000)}`}
    </p>
  );
}

/** What reporters wrote. */
export function Notes({ language, notes }: { language: string } & Pick<NotedCase, "notes">) {
  const list = (some: NotedCase["notes"]) =>
    some.map(({ atMs, reason, note }) => (
      <blockquote>
        <LongNote text={note} />{" "}
        <span class="soft">
          {message(language, `reason.${reason}`)} · <Instant language={language} ms={atMs} />
        </span>
      </blockquote>
    ));
  const more = notes.slice(MAX_NOTES);
  return (
    <>
      {list(notes.slice(0, MAX_NOTES))}
      {more.length > 0 && (
        <details>
          <summary>{message(language, "preview.more", { count: more.length })}</summary>
          {list(more)}
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

interface AnswerFormProps {
  readonly context: PageContext;
  readonly one: Pick<NotedCase, "code" | "reasons">;
  /** Without a link, there is nothing to disable or block. */
  readonly link: StoredLink | undefined;
}

export function AnswerForm({ context, one, link }: AnswerFormProps) {
  const { language } = context;
  const seen = link === undefined ? "" : versionOf(link);
  return (
    <Form context={context} action="/admin/cases" hidden={{ code: one.code, seen }}>
      <ReasonAndNote language={language} reason={mainReason(one)} />
      <div class="answers">
        {ANSWERS.filter((action) => isThere(link) || action === "nothing").map((action) => (
          <button name="action" value={action} aria-keyshortcuts={KEYS[action]}>
            {message(language, `admin.do.${action}`)}
          </button>
        ))}
      </div>
    </Form>
  );
}
