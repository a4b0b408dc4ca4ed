/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import { splitKey } from "../../links/code.ts";
import { hasEnded, hasPassword, type Link, type WithEnd } from "../../links/link.ts";
import { isProblem } from "../../links/problem.ts";
import { TERM_NAMES, type TermName } from "../../links/terms.ts";
import { NEVER_MS } from "../../links/time.ts";
import { message, type MessageKey } from "../../locales/messages.ts";
import type { LinkDetails } from "../../moderation/inspection.ts";
import { seeOther } from "../forms.ts";
import { answerPageProblem } from "../problem/answer.ts";
import { HostName } from "../shared/destination.tsx";
import { Notice } from "../shared/fields.tsx";
import type { Child } from "../shared/html/jsx-runtime.ts";
import { Instant } from "../shared/instant.tsx";
import { Fact, InstantFact, QueryFact } from "../shared/link-facts.tsx";
import { LinkDestination, Notes, ReportFacts } from "./cases.tsx";
import { actorOf, operatorForm, operatorPage, type PageData, renderPage, seenBy } from "./endpoint.ts";
import { adminPage, Given, linkPath, type PageContext, withQuery } from "./frame.tsx";
import { History } from "./journal.tsx";
import { Change, decide, Decisions, Erasure } from "./link-forms.tsx";
import { stateInWords } from "./links.tsx";

interface LinkView extends LinkDetails {
  readonly manageUrl: string;
  /** The destination in a refused form. */
  readonly typed?: string | undefined;
  readonly nowMs: number;
  readonly refusal?: string | undefined;
}

interface LinkData extends PageData {
  /** Makers lose theirs, and imported links have none. */
  readonly manageKey: string;
}

/** One link: its facts, the possible decisions, and the earlier ones. */
export const showLink = operatorPage(
  "GET /admin/links/{code}",
  (inspection) => async (call, data: LinkData) => {
    const inspected = await inspection.details(call.code);
    if (isProblem(inspected)) return answerPageProblem(call, inspected);
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
        ? answerPageProblem(call, link)
        : show(call, { formToken, manageKey: allKeys.manageKey(link) });
    },
);

export const decideLink = operatorForm("POST /admin/links/{code}", ({ operator, allKeys, views }) => {
  const show = views.show(showLink);
  return async (call, fields, formToken) => {
    const link = await operator.find(call.code);
    if (isProblem(link)) return answerPageProblem(call, link);
    const seen = seenBy(link, fields);
    const problem = isProblem(seen) ? seen : await decide(operator, seen, fields, actorOf(call));
    if (!isProblem(problem)) return seeOther(linkPath(link.code));
    const typed = fields.get("target") ?? undefined;
    return show(call, { formToken, manageKey: allKeys.manageKey(link), problem, typed });
  };
});

function linkPage(context: PageContext, view: LinkView): Page {
  const { language } = context;
  const { link, reported, manageUrl, typed, refusal, nowMs } = view;
  const isGone = link.disabled === "deleted";
  const isChangeable = link.disabled === undefined && link.blocked === undefined && !hasEnded(link, nowMs);
  const say = (key: MessageKey) => message(language, key);
  return adminPage(
    context,
    "links",
    <Given text={link.code} />,
    <>
      <Notice text={refusal} />
      <div class="split">
        <div>
          {reported !== undefined && <ReportFacts language={language} one={reported} nowMs={nowMs} />}
          {!isGone && <LinkDestination language={language} link={link} nowMs={nowMs} />}
          <Notes language={language} notes={reported?.notes ?? []} />
          <Facts language={language} view={view} />
        </div>
        {!isGone && (
          <section class="card do" aria-label={say("admin.do")}>
            <Decisions context={context} details={view} />
            {isChangeable && <Change context={context} link={link} manageUrl={manageUrl} typed={typed} />}
            <Erasure context={context} link={link} />
          </section>
        )}
      </div>
      {view.history.length > 0 && (
        <>
          <h2>{say("admin.history")}</h2>
          <History language={language} entries={view.history} />
        </>
      )}
    </>,
  );
}

function Facts({ language, view }: { language: string; view: LinkView }) {
  const { link, visits, bots, nowMs } = view;
  const say = (key: MessageKey) => message(language, key);
  const isGone = link.disabled === "deleted";
  const { createdBy } = link.terms ?? {};
  return (
    <dl class="facts">
      <Fact name={say("admin.state")}>{stateInWords(language, link, nowMs)}</Fact>
      <InstantFact language={language} name="preview.created" ms={link.createdMs} />
      {createdBy !== undefined && (
        <Fact name={say("created-by")}>
          <a href={withQuery("/admin/links", { q: `by:${createdBy}` })}>{createdBy}</a>
        </Fact>
      )}
      {TERM_NAMES.map((name) => (!isGone || name === "expires_at") && TERM_FACTS[name](link, language))}
      {!isGone && <Outcome language={language} terms={link.terms} />}
      <Fact name={say("preview.visits")}>{visits.toLocaleString(language)}</Fact>
      <Fact name={say("preview.bots")}>{bots.toLocaleString(language)}</Fact>
      {!isGone && link.originalUrl !== link.target && (
        <Fact name={say("admin.as-sent")}>
          <Given text={link.originalUrl} />
        </Fact>
      )}
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
          <HostName host={formerHost} />
        </Fact>
      )}
    </>
  );
}
