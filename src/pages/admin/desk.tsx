/** @jsxImportSource ../shared/html */
import type { DetachedCall } from "../../http/call.ts";
import type { Page } from "../../http/page.ts";
import type { HttpProblem } from "../../http/problems.ts";
import { parametersOf } from "../../http/url.ts";
import type { Fields } from "../../lib/bounds.ts";
import { versionOf } from "../../links/change.ts";
import type { StoredLink } from "../../links/link.ts";
import { isProblem } from "../../links/problem.ts";
import { targetHost } from "../../links/target.ts";
import { message } from "../../locales/messages.ts";
import { ANSWERS, type Restore } from "../../moderation/case.ts";
import type { Inspection } from "../../moderation/inspection.ts";
import { readReason } from "../../moderation/operator.ts";
import { seeOther } from "../forms.ts";
import { answerPageProblem } from "../problem/answer.ts";
import { HostName } from "../shared/destination.tsx";
import { Notice } from "../shared/fields.tsx";
import { CaseList, type Cases, Keys } from "./cases.tsx";
import {
  decisionOf,
  operatorForm,
  operatorPage,
  type PageData,
  listPageOf,
  renderPage,
  seenBy,
  actorOf,
} from "./endpoint.ts";
import { LAST_ANSWER_FIELDS, adminPage, Form, LinkTo, type PageContext, withQuery } from "./frame.tsx";

const DID = [...ANSWERS, "undo"] as const;

/** The last answer, which can be undone, or its undoing. */
interface LastAnswer {
  readonly did: (typeof DID)[number] | undefined;
  readonly code: string;
  /** Why the link was disabled, or its host blocked, before the answer; "" if it was not. */
  readonly was: string;
  /** The version of the link that was answered. */
  readonly seen: string;
  /** The host that was blocked. */
  readonly host: string;
}

/** Reads the last answer from a form or the query. */
function readLastAnswer(fields: Fields): LastAnswer {
  const [did = "", code = "", was = "", seen = "", host = ""] = LAST_ANSWER_FIELDS.map(
    (name) => fields.get(name) ?? "",
  );
  return { did: DID.find((one) => one === did), code, was, seen, host };
}

interface Desk {
  /** Only open ones. */
  readonly cases: Cases;
  readonly answered: LastAnswer;
  readonly refusal: string | undefined;
}

/** The operator's start page: open reports. */
const renderDesk = (inspection: Inspection) => async (call: DetachedCall, data: PageData) => {
  const cases = await inspection.cases(listPageOf(call), "open");
  const answered = readLastAnswer(parametersOf(call.request));
  const nowMs = inspection.nowMs();
  return renderPage(call, data, (context, refusal) =>
    deskPage(context, { cases: { ...cases, nowMs }, answered, refusal }),
  );
};

export const showDesk = operatorPage("GET /admin", renderDesk);
/** For browsers that reload a refused form. */
export const showCases = operatorPage("GET /admin/cases", renderDesk);

export const answerCaseForm = operatorForm("POST /admin/cases", ({ operator, cases, hostRules, views }) => {
  const show = views.show(showDesk);
  return async (call, fields, formToken) => {
    const link = await operator.find(fields.get("code") ?? "");
    if (isProblem(link)) return answerPageProblem(call, link);
    const action = fields.get("action") ?? "";
    const again = (problem: HttpProblem) => show(call, { formToken, problem });
    const seen = seenBy(link, fields);
    if (isProblem(seen)) return again(seen);
    const host = targetHost(link.target);
    const rule = hostRules.ruleFor(link.target);
    const ruled = rule?.host === host ? rule.reason : undefined;
    const outcome =
      action === "undo"
        ? await cases.reopenCase(seen, stateBefore(link, readLastAnswer(fields)), {}, actorOf(call))
        : await cases.answerCase(seen, { ...decisionOf(fields), action }, actorOf(call));
    if (outcome !== undefined && isProblem(outcome)) return again(outcome);
    const was = (action === "block-host" ? ruled : link.disabled) ?? "";
    const answered = { did: action, code: link.code, was, seen: versionOf(link), block: host };
    return seeOther(withQuery("/admin", answered));
  };
});

/** Returns the state before an answer, to undo it. `was` is the reason that stopped the link before, if any. */
function stateBefore(link: StoredLink, { did, was }: LastAnswer): Restore {
  const reason = readReason(was);
  if (did === "block-host") return { host: { name: targetHost(link.target), reason } };
  if (did === "disable") return { disabled: reason ?? null };
  // Does nothing to a link that the operator has disabled since.
  return did === "nothing" && link.disabled === undefined ? { disabled: reason } : {};
}

function deskPage(context: PageContext, { cases, answered, refusal }: Desk): Page {
  const { language } = context;
  return adminPage(
    context,
    "cases",
    message(language, "admin.cases"),
    <>
      <Notice text={refusal} />
      <Undo context={context} answered={answered} />
      <CaseList context={context} cases={cases} />
    </>,
    cases.items.length > 0 && <Keys language={language} />,
  );
}

function Undo({ context, answered }: { context: PageContext; answered: LastAnswer }) {
  const { language } = context;
  const { did, code, was, seen, host } = answered;
  if (did === undefined) return <></>;
  const done = (
    <p role="status">
      {message(language, `admin.answered.${did}`)}:{" "}
      {did === "block-host" ? <HostName host={host} /> : <LinkTo code={code} />}
    </p>
  );
  if (did === "undo") return done;
  return (
    <Form context={context} action="/admin/cases" hidden={{ action: "undo", did, code, was, seen }}>
      {done}
      <button aria-keyshortcuts="u">{message(language, "admin.undo")}</button>
    </Form>
  );
}
