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
import { DAY_MS, isoDay } from "../../links/time.ts";
import { message, type MessageKey } from "../../locales/messages.ts";
import { ANSWERS, type Restore } from "../../moderation/case.ts";
import type { CounterName } from "../../moderation/counters.ts";
import { FIGURE_DAYS, type Figures, type TopHosts } from "../../moderation/figures.ts";
import type { Inspection } from "../../moderation/inspection.ts";
import { readReason } from "../../moderation/operator.ts";
import { seeOther } from "../forms.ts";
import { answerPageProblem } from "../problem/answer.ts";
import { Notice } from "../shared/fields.tsx";
import { Fact } from "../shared/link-facts.tsx";
import { CaseList, type Cases } from "./cases.tsx";
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
import { LAST_ANSWER_FIELDS, adminPage, Form, Given, LinkTo, type PageContext, withQuery } from "./frame.tsx";

const COUNTS = {
  visits: "admin.count.visits",
  bots: "admin.count.bots",
  created: "admin.count.created",
  refused: "admin.count.refused",
  blocked: "admin.count.blocked",
  "limited.create": "admin.count.limited.create",
  "limited.unknown": "admin.count.limited.unknown",
  "limited.view": "admin.count.limited.view",
  "limited.password": "admin.count.limited.password",
  "limited.report": "admin.count.limited.report",
  reports: "admin.count.reports",
  unknown: "admin.count.unknown",
} as const satisfies Record<CounterName | "visits" | "bots", MessageKey>;
const NAMES = Object.keys(COUNTS) as (keyof typeof COUNTS)[];

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

interface Overview {
  /** Only open ones. */
  readonly cases: Cases;
  readonly figures: Figures;
  readonly answered: LastAnswer;
  readonly refusal: string | undefined;
}

/** The operator's start page: open reports, then how much there is of everything. */
const renderOverview = (inspection: Inspection) => async (call: DetachedCall, data: PageData) => {
  const cases = await inspection.cases(listPageOf(call), "open");
  const figures = await inspection.figures();
  const answered = readLastAnswer(parametersOf(call.request));
  const nowMs = inspection.nowMs();
  return renderPage(call, data, (context, refusal) =>
    overviewPage(context, { cases: { ...cases, nowMs }, figures, answered, refusal }),
  );
};

export const showOverview = operatorPage("GET /admin", renderOverview);
/** For browsers that reload a refused form. */
export const showCases = operatorPage("GET /admin/cases", renderOverview);

export const answerCaseForm = operatorForm("POST /admin/cases", ({ operator, cases, hostRules, views }) => {
  const show = views.show(showOverview);
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

function overviewPage(context: PageContext, { cases, figures, answered, refusal }: Overview): Page {
  const { language } = context;
  const say = (key: MessageKey) => message(language, key);
  const format = (count: number) => count.toLocaleString(language);
  const { newestHosts, visitedHosts, days } = figures;
  const open = `${format(cases.items.length)}${cases.cursor === undefined ? "" : "+"}`;
  return adminPage(
    context,
    "figures",
    say("admin.figures"),
    <>
      <Notice text={refusal} />
      <Undo context={context} answered={answered} />
      <h2>{message(language, "admin.open", { count: open })}</h2>
      <CaseList context={context} cases={cases} />
      <Days language={language} days={days} nowMs={cases.nowMs} />
      <dl class="facts">
        <Fact name={say("admin.figures.links")}>{format(figures.links)}</Fact>
        <Fact name={say("admin.figures.disabled")}>{format(figures.disabled)}</Fact>
        <Fact name={say("admin.hosts")}>{format(figures.blockedHosts)}</Fact>
      </dl>
      <Hosts language={language} title="admin.figures.newest" top={newestHosts} />
      <Hosts language={language} title="admin.figures.visited" top={visitedHosts} />
    </>,
    cases.items.length === 0 ? "" : open,
  );
}

function Undo({ context, answered }: { context: PageContext; answered: LastAnswer }) {
  const { language } = context;
  const { did, code, was, seen, host } = answered;
  if (did === undefined) return <></>;
  const done = (
    <p role="status">
      {message(language, `admin.answered.${did}`)}:{" "}
      {did === "block-host" ? <Given text={host} /> : <LinkTo code={code} />}
    </p>
  );
  if (did === "undo") return done;
  return (
    <Form context={context} action="/admin/cases" hidden={{ action: "undo", did, code, was, seen }}>
      {done}
      <button>{message(language, "admin.undo")}</button>
    </Form>
  );
}

/** A row for each count that was above 0, with its course. */
function Days({ language, days, nowMs }: { language: string; days: Figures["days"]; nowMs: number }) {
  const today = Math.floor(nowMs / DAY_MS);
  const columns = Array.from({ length: FIGURE_DAYS }, (_, nth) => today - FIGURE_DAYS + 1 + nth);
  const countsOf = new Map(days.map(({ day, counts }) => [day, counts]));
  const rows = NAMES.map((name) => ({
    name,
    values: columns.map((day) => countsOf.get(day)?.[name] ?? 0),
  }));
  return (
    <div class="days" role="region" aria-labelledby="days" tabindex={0}>
      <h2 id="days">{message(language, "admin.figures.days")}</h2>
      <table>
        <thead>
          <tr>
            <td colspan={2}></td>
            {columns.map((day) => (
              <th scope="col" class="number">
                {isoDay(day).slice("2026-".length)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows
            .filter(({ values }) => values.some((value) => value > 0))
            .map(({ name, values }) => (
              <tr>
                <th scope="row">{message(language, COUNTS[name])}</th>
                <td>
                  <Sparkline values={values} />
                </td>
                {values.map((value) => (
                  <td class="number">{value.toLocaleString(language)}</td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}

/** The highest value is at the top, and 0 at the bottom. */
function Sparkline({ values }: { values: readonly number[] }) {
  const top = Math.max(...values);
  const points = values.map((value, nth) => `${nth * 8},${Math.round(16 * (1 - value / top))}`);
  return (
    <svg class="spark" viewBox={`-1 -1 ${values.length * 8 - 6} 18`} aria-hidden="true">
      <polyline points={points.join(" ")} />
    </svg>
  );
}

function Hosts({ language, title, top }: { language: string; title: MessageKey; top: TopHosts }) {
  const { hosts, links } = top;
  return (
    <>
      <h2>{message(language, title)}</h2>
      <p class="hint">{message(language, "admin.figures.of", { count: links })}</p>
      <dl class="facts">
        {hosts.map(({ host, count }) => (
          <Fact name={count.toLocaleString(language)}>
            <a href={withQuery("/admin/links", { host })}>
              <Given text={host} />
            </a>
          </Fact>
        ))}
      </dl>
    </>
  );
}
