/** @jsxImportSource ../shared/html */
import { versionOf } from "../../links/change.ts";
import type { Link, StoredLink } from "../../links/link.ts";
import { REASONS } from "../../links/reasons.ts";
import { message } from "../../locales/messages.ts";
import { ANSWERS, mainReason, type NotedCase } from "../../moderation/case.ts";
import type { InspectedCase, ListItems } from "../../moderation/inspection.ts";
import { hintsOf } from "../../moderation/link-hints.ts";
import { describeDestination } from "../shared/destination-parts.ts";
import { FullAddress, Host } from "../shared/destination.tsx";
import { Instant } from "../shared/instant.tsx";
import { targetChangeOf } from "../shared/link-facts.tsx";
import { minutesLeftOf, NoteList, notesOf } from "../shared/warnings.tsx";
import { Form, Given, LinkTo, More, type PageContext, ReasonAndNote } from "./frame.tsx";
import { stateInWords } from "./links.tsx";

export interface Cases extends ListItems<InspectedCase> {
  readonly nowMs: number;
}

const KEYS = { disable: "d", "block-host": "b", nothing: "x" } as const;

/** Cases, each with the form that answers it. */
export function CaseList({ context, cases }: { context: PageContext; cases: Cases }) {
  const { language } = context;
  const { items, cursor, nowMs } = cases;
  return (
    <>
      <p class={items.length > 0 ? "hint keys" : "hint"}>
        {message(language, items.length > 0 ? "admin.keys" : "admin.cases.empty")}
      </p>
      {items.map((one, nth) => (
        <article class="card case" tabindex={-1} autofocus={nth === 0 && one.answer === undefined}>
          <div>
            <LinkTo code={one.code} />{" "}
            <span class="soft">
              {one.link === undefined
                ? message(language, "admin.state.deleted")
                : stateInWords(language, one.link, nowMs)}
            </span>
          </div>
          {isThere(one.link) && <LinkDestination language={language} link={one.link} nowMs={nowMs} />}
          <ReportFacts language={language} one={one} />
          {one.answer === undefined && <AnswerForm context={context} one={one} link={one.link} />}
        </article>
      ))}
      {cursor !== undefined && <More language={language} path="/admin" query={{ cursor }} />}
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

type Reported = Pick<NotedCase, "reports" | "reasons" | "lastMs" | "answer" | "notes">;

/** How often a link was reported for each reason, in whose words, and the operator's answer. */
export function ReportFacts({ language, one }: { language: string; one: Reported }) {
  const { reports, reasons, lastMs, answer, notes } = one;
  const counts = REASONS.filter((reason) => reasons[reason] !== undefined).map((reason) =>
    message(language, "admin.reports.reason", {
      reason: message(language, `reason.${reason}`),
      count: String(reasons[reason]),
    }),
  );
  const list = new Intl.ListFormat(language, { style: "narrow" }).format(counts);
  return (
    <>
      <div class="soft">
        {message(language, "admin.reports.reasons", {
          reports: message(language, "admin.reports", { count: reports }),
          reasons: list,
        })}
        {" · "}
        <Instant language={language} ms={lastMs} />
        {answer !== undefined && (
          <>
            {" → "}
            {message(language, `admin.answered.${answer.action}`)} ·{" "}
            <Instant language={language} ms={answer.atMs} />
          </>
        )}
      </div>
      {notes.map(({ atMs, reason, note }) => (
        <blockquote>
          <Given text={note} />{" "}
          <span class="soft">
            {message(language, `reason.${reason}`)} · <Instant language={language} ms={atMs} />
          </span>
        </blockquote>
      ))}
    </>
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
      {ANSWERS.filter((action) => isThere(link) || action === "nothing").map((action) => (
        <button name="action" value={action} aria-keyshortcuts={KEYS[action]}>
          {message(language, `admin.do.${action}`)}
        </button>
      ))}
      <details>
        <summary>{message(language, "admin.reason-and-note")}</summary>
        <ReasonAndNote language={language} reason={mainReason(one)} />
      </details>
    </Form>
  );
}
