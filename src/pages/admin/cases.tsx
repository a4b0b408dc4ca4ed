/** @jsxImportSource ../shared/html */
import { REASONS } from "../../links/link.ts";
import { message } from "../../locales/messages.ts";
import type { Inspection } from "../../moderation/inspection.ts";
import { ANSWERS, mainReason } from "../../moderation/reports/case.ts";
import { Notice } from "../shared/fields.tsx";
import { Instant } from "../shared/instant.tsx";
import type { Page } from "../shared/layout.tsx";
import { Beginning, Choice, Decide, Form, adminPage, LinkTo, More, type PageContext } from "./frame.tsx";
import { stateInWords } from "./links.tsx";

type Found = Awaited<ReturnType<Inspection["cases"]>>;
type Case = Found["items"][number];

export interface Cases extends Found {
  readonly nowMs: number;
  readonly refusal?: string | undefined;
}

/** Open cases first, each with the form that answers it. */
export function casesPage(context: PageContext, { items, cursor, nowMs, refusal }: Cases): Page {
  const { language } = context;
  return adminPage(
    context,
    "cases",
    message(language, "admin.cases"),
    <>
      <Notice text={refusal} />
      {items.length === 0 && <p>{message(language, "admin.cases.empty")}</p>}
      <ul class="rows">
        {items.map((one) => (
          <li>
            <CaseFacts language={language} one={one} nowMs={nowMs} />
            {one.answer === undefined && <AnswerForm context={context} one={one} />}
          </li>
        ))}
      </ul>
      {cursor !== undefined && <More language={language} path="/admin/cases" query={{ cursor }} />}
    </>,
  );
}

function CaseFacts({ language, one, nowMs }: { language: string; one: Case; nowMs: number }) {
  const { code, link } = one;
  return (
    <>
      <div>
        <LinkTo code={code} />
      </div>
      {link !== undefined && (
        <div>
          <Beginning text={link.target} />
        </div>
      )}
      <div class="soft">
        {link === undefined ? message(language, "admin.state.deleted") : stateInWords(language, link, nowMs)}
      </div>
      <ReportFacts language={language} one={one} />
    </>
  );
}

type Counted = Pick<Case, "reports" | "reasons" | "lastMs" | "answer">;

/** How often a link was reported for each reason, and the operator's answer. */
export function ReportFacts({ language, one }: { language: string; one: Counted }) {
  const { reports, reasons, lastMs, answer } = one;
  const counts = REASONS.filter((reason) => reasons[reason] !== undefined).map((reason) =>
    message(language, "admin.reports.reason", {
      reason: message(language, `reason.${reason}`),
      count: String(reasons[reason]),
    }),
  );
  const list = new Intl.ListFormat(language, { style: "narrow" }).format(counts);
  return (
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
  );
}

export function AnswerForm({ context, one }: { context: PageContext; one: Pick<Case, "code" | "reasons"> }) {
  const { language } = context;
  const answers = ANSWERS.map((action) => [action, message(language, `admin.answer.${action}`)] as const);
  return (
    <Form context={context} action="/admin/cases" hidden={{ code: one.code }}>
      <Choice label={message(language, "admin.answer")} name="action" options={answers} />
      <Decide language={language} action="answer" hasReason reason={mainReason(one)} />
    </Form>
  );
}
