/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import type { HttpProblem } from "../../http/problems.ts";
import type { Fields } from "../../lib/bounds.ts";
import { versionOf } from "../../links/change.ts";
import { splitKey } from "../../links/code.ts";
import { hasEnded, hasPassword, type Link, type StoredLink, type WithEnd } from "../../links/link.ts";
import { isProblem } from "../../links/problem.ts";
import type { LinkId } from "../../links/store.ts";
import { targetHost } from "../../links/target.ts";
import { TERM_NAMES, type TermName } from "../../links/terms.ts";
import { DURATIONS, NEVER_MS } from "../../links/time.ts";
import { message, type MessageKey } from "../../locales/messages.ts";
import { mainReason } from "../../moderation/case.ts";
import type { LinkDetails } from "../../moderation/inspection.ts";
import type { Operator, ReadLink } from "../../moderation/operator.ts";
import { instantOf, seeOther } from "../forms.ts";
import { problemAnswer } from "../problem/answer.ts";
import { Notice } from "../shared/fields.tsx";
import { richMessage } from "../shared/formats.ts";
import type { Child } from "../shared/html/jsx-runtime.ts";
import { Instant } from "../shared/instant.tsx";
import { Fact, InstantFact, QueryFact } from "../shared/link-facts.tsx";
import { CopyButton } from "../shared/share.tsx";
import { AnswerForm, LinkDestination, ReportFacts } from "./cases.tsx";
import {
  decisionOf,
  operatorForm,
  operatorPage,
  type PageData,
  renderPage,
  seenBy,
  WHO,
} from "./endpoint.ts";
import {
  Choice,
  Decide,
  Field,
  Form,
  adminPage,
  Given,
  linkPath,
  type PageContext,
  withQuery,
} from "./frame.tsx";
import { History } from "./journal.tsx";
import { stateInWords } from "./links.tsx";

const EXPIRIES = [...DURATIONS, "never"] as const;

interface LinkView extends LinkDetails {
  readonly manageUrl: string;
  /** The destination in a refused form. */
  readonly typed?: string | undefined;
  readonly nowMs: number;
  readonly refusal?: string | undefined;
}

/** One link: its facts, the possible decisions, and the earlier ones. */
interface LinkData extends PageData {
  /** Makers lose theirs, and imported links have none. */
  readonly manageKey: string;
}

/** Everything about a link, and the forms that decide about it. */
export const showLink = operatorPage(
  "GET /admin/links/{code}",
  (inspection) => async (call, data: LinkData) => {
    const inspected = await inspection.details(call.code);
    if (isProblem(inspected)) return problemAnswer(call, inspected);
    const nowMs = inspection.nowMs();
    const { manageKey, typed } = data;
    const { keyPrefix, code } = splitKey(inspected.link.code);
    const origin = call.domain.ofKey(inspected.link.code)?.origin ?? `https://${keyPrefix.slice(0, -1)}`;
    const manageUrl = `${origin}/${encodeURIComponent(code)}+#key=${manageKey}`;
    return renderPage(call, data, (context, refusal) =>
      linkPage(context, { ...inspected, manageUrl, typed, nowMs, refusal }),
    );
  },
  ({ operator, allKeys }, show) =>
    async (call, formToken) => {
      const link = await operator.find(call.code);
      return isProblem(link)
        ? problemAnswer(call, link)
        : show(call, { formToken, manageKey: allKeys.manageKey(link) });
    },
);

export const decideLink = operatorForm("POST /admin/links/{code}", ({ operator, allKeys, views }) => {
  const show = views.show(showLink);
  return async (call, fields, formToken) => {
    const link = await operator.find(call.code);
    if (isProblem(link)) return problemAnswer(call, link);
    const seen = seenBy(link, fields);
    const problem = isProblem(seen) ? seen : await decide(operator, seen, fields);
    if (!isProblem(problem)) return seeOther(linkPath(link.code));
    const typed = fields.get("target") ?? undefined;
    return show(call, { formToken, manageKey: allKeys.manageKey(link), problem, typed });
  };
});

/** Decides about one link. False if the form names no decision. */
async function decide(
  operator: Operator,
  link: ReadLink,
  fields: Fields,
): Promise<HttpProblem | readonly LinkId[] | boolean> {
  switch (fields.get("action") ?? "") {
    case "change":
      return operator.change(link, { ...decisionOf(fields), ...changeOf(link, fields) }, WHO);
    case "disable":
      return operator.disable([link], decisionOf(fields), WHO);
    case "enable":
      return operator.enable([link], decisionOf(fields), WHO);
    case "erase":
      return fields.get("confirm") === link.code ? operator.erase(link, decisionOf(fields), WHO) : false;
    default:
      return false;
  }
}

/** The changes in a form. A date wins over a duration. */
function changeOf({ originalUrl }: StoredLink, fields: Fields) {
  const target = (fields.get("target") ?? originalUrl).trim();
  const [choice, date] = [fields.get("expires_at") ?? "", fields.get("expires_at_date") ?? ""];
  return {
    originalUrl: target === originalUrl ? undefined : target,
    terms: {
      expires_at:
        instantOf(date, fields.get("zone") ?? "") ??
        (choice === "never" ? null : DURATIONS.find((one) => one === choice)),
    },
  };
}

function linkPage(context: PageContext, looked: LinkView): Page {
  const { language } = context;
  const { link, refusal, nowMs } = looked;
  const isChangeable = link.disabled === undefined && link.blocked === undefined && !hasEnded(link, nowMs);
  const say = (key: MessageKey) => message(language, key);
  return adminPage(
    context,
    "links",
    <Given text={link.code} />,
    <>
      <Notice text={refusal} />
      {link.disabled !== "deleted" && <LinkDestination language={language} link={link} nowMs={nowMs} />}
      <Facts language={language} looked={looked} />
      <Reported context={context} looked={looked} />
      {isChangeable && <Change context={context} looked={looked} />}
      {link.disabled !== "deleted" && <Decisions context={context} looked={looked} />}
      <h2>{say("admin.history")}</h2>
      <History language={language} entries={looked.history} />
    </>,
  );
}

function Facts({ language, looked }: { language: string; looked: LinkView }) {
  const { link, visits, bots, nowMs } = looked;
  const say = (key: MessageKey) => message(language, key);
  const isGone = link.disabled === "deleted";
  return (
    <dl class="facts">
      <Fact name={say("admin.state")}>{stateInWords(language, link, nowMs)}</Fact>
      {!isGone && link.originalUrl !== link.target && (
        <Fact name={say("admin.as-sent")} isLong>
          <Given text={link.originalUrl} />
        </Fact>
      )}
      <InstantFact language={language} name="preview.created" ms={link.createdMs} />
      {TERM_NAMES.map((name) => (!isGone || name === "expires_at") && TERM_FACTS[name](link, language))}
      {!isGone && <Outcome language={language} terms={link.terms} />}
      <Fact name={say("preview.visits")}>{visits.toLocaleString(language)}</Fact>
      <Fact name={say("preview.bots")}>{bots.toLocaleString(language)}</Fact>
    </dl>
  );
}

/** The fact about each term, if the link has it. */
const TERM_FACTS: Readonly<Record<TermName, (link: WithEnd, language: string) => Child>> = {
  expires_at: ({ endsMs }, language) => (
    <Fact name={message(language, "preview.ends")}>
      {endsMs === NEVER_MS ? message(language, "never") : <Instant language={language} ms={endsMs} />}
    </Fact>
  ),
  starts_at: ({ terms }, language) => (
    <InstantFact language={language} name="admin.starts" ms={terms?.startsMs} />
  ),
  max_visits: ({ terms: { maxVisits, visits = 0 } = {} }, language) =>
    maxVisits !== undefined && (
      <Fact name={message(language, "admin.max-visits")}>
        {visits.toLocaleString(language)} / {maxVisits.toLocaleString(language)}
      </Fact>
    ),
  password: (link, language) =>
    hasPassword(link) && (
      <Fact name={message(language, "admin.password")}>{message(language, "admin.password.yes")}</Fact>
    ),
  forward_query: ({ terms }, language) => <QueryFact language={language} terms={terms} />,
};

/** The end of a link, in words. */
function Outcome({ language, terms = {} }: { language: string; terms: Link["terms"] }) {
  const say = (key: MessageKey) => message(language, key);
  const { ended, changedMs, formerHost } = terms;
  return (
    <>
      {ended !== undefined && <Fact name={say("admin.ended")}>{say(`page.expired.title.${ended}`)}</Fact>}
      <InstantFact language={language} name="preview.changed" ms={changedMs} />
      {formerHost !== undefined && (
        <Fact name={say("preview.former")}>
          <Given text={formerHost} />
        </Fact>
      )}
    </>
  );
}

/** The form with the maker's fields, and the maker's manage link. */
function Change({ context, looked }: { context: PageContext; looked: LinkView }) {
  const { language } = context;
  const { link, manageUrl, typed = link.originalUrl } = looked;
  const say = (key: MessageKey) => message(language, key);
  const ends = EXPIRIES.map((one) => [one, say(one === "never" ? one : `duration.${one}`)] as const);
  return (
    <>
      <h2>{say("manage.change")}</h2>
      <Form
        context={context}
        action={linkPath(link.code)}
        hidden={{ action: "change", seen: versionOf(link) }}
      >
        <Field label={say("manage.target")} name="target" value={typed} isRequired />
        <Choice
          label={say("manage.ends")}
          name="expires_at"
          options={[["", say("manage.ends.keep")], ...ends]}
        />
        <input type="hidden" name="zone" value="" />
        <Field
          label={richMessage(language, "admin.ends.date", { zone: <span data-zone>UTC</span> })}
          name="expires_at_date"
          type="datetime-local"
        />
        <Decide language={language} action="change" />
      </Form>
      <p class="actions">
        <CopyButton language={language} kind="secondary" label="keep.copy" text={manageUrl} />
      </p>
    </>
  );
}

function Reported({ context, looked }: { context: PageContext; looked: LinkView }) {
  const { language } = context;
  const { link, reported } = looked;
  if (reported === undefined) return <></>;
  return (
    <>
      <h2>{message(language, "admin.cases")}</h2>
      <ReportFacts language={language} one={reported} />
      {reported.answer === undefined && <AnswerForm context={context} one={reported} link={link} />}
    </>
  );
}

function Decisions({ context, looked }: { context: PageContext; looked: LinkView }) {
  const { language } = context;
  const { link, reported } = looked;
  const seen = versionOf(link);
  const reason = reported === undefined ? "" : mainReason(reported);
  const say = (key: MessageKey) => message(language, key);
  const action = linkPath(link.code);
  const host = targetHost(link.target);
  return (
    <>
      {link.disabled === undefined ? (
        <Form context={context} action={action} hidden={{ action: "disable", seen }}>
          <Decide language={language} action="disable" reason={reason} />
        </Form>
      ) : (
        <Form context={context} action={action} hidden={{ action: "enable", seen }}>
          <Decide language={language} action="enable" />
        </Form>
      )}
      <p class="actions">
        <a class="button" href={withQuery("/admin/hosts", { host, reason })}>
          {message(language, "admin.block-this", { host })}
        </a>
        <a class="button" href={withQuery("/admin/links", { host })}>
          {message(language, "admin.links-to", { host })}
        </a>
      </p>
      <details>
        <summary>{say("admin.do.erase")}</summary>
        <p>{say("admin.erase.intro")}</p>
        <Form context={context} action={action} hidden={{ action: "erase", seen }}>
          <label class="check">
            <input type="checkbox" name="confirm" value={link.code} required /> {say("admin.erase.confirm")}
          </label>
          <Decide language={language} action="erase" />
        </Form>
      </details>
    </>
  );
}
