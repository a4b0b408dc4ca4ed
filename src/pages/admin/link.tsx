/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import { splitKey } from "../../links/code.ts";
import {
  hasEnded,
  hasPassword,
  type StoredLink,
  type Terms,
  type WithEnd,
  shownCode,
} from "../../links/link.ts";
import { isProblem } from "../../links/problem.ts";
import { targetHost } from "../../links/target.ts";
import { isOfKind, type NameOf, TERM_NAMES, type TermName, TERMS } from "../../links/terms/terms.ts";
import { NEVER_MS } from "../../links/time.ts";
import { redirects } from "../../moderation/harm.ts";
import type { HostLinks, LinkDetails } from "../../moderation/inspection.ts";
import { requireCase } from "../../moderation/operator.ts";
import { answerPageProblem } from "../problem/answer.ts";
import { describeDestination } from "../shared/destination-parts.ts";
import { FullAddress, HostName } from "../shared/destination.tsx";
import type { Child } from "../shared/html/jsx-runtime.ts";
import { Instant } from "../shared/instant.tsx";
import { Fact, FlagFact, flagsOf, InstantFact } from "../shared/link-facts.tsx";
import { Address, Ticket } from "../shared/ticket.tsx";
import { withQuery } from "../shared/with-query.ts";
import { Figures, LinkDestination, Notes, ReportFacts } from "./case-facts.tsx";
import { showDesk } from "./desk.tsx";
import { Entries } from "./entries.tsx";
import { StateChip } from "./found-links.tsx";
import { adminPage } from "./frame.tsx";
import { Change, decide, Decisions, Erasure } from "./link-forms.tsx";
import { Given, linkPath } from "./link-to.tsx";
import { operatorForm, operatorPage, type PageData, renderPage } from "./operator-page.ts";
import { type PageContext, type RelatedEntry, withRelated } from "./page-context.ts";

interface LinkView extends LinkDetails {
  readonly manageUrl: string;
  readonly shownUrl: string;
  readonly hours: readonly number[];
  readonly others: HostLinks;
  readonly history: readonly RelatedEntry[];
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
    const { keyPrefix, code } = splitKey(inspected.link.code);
    const origin = call.domain.ofKey(inspected.link.code)?.origin ?? `https://${keyPrefix.slice(0, -1)}`;
    const manageUrl = `${origin}/${encodeURIComponent(code)}+#key=${data.manageKey}`;
    const history = await withRelated(inspection, inspected.history);
    const hours = await inspection.hours(inspected.link);
    const others = await inspection.linksTo(targetHost(inspected.link.target), inspected.link);
    const shownUrl = `${origin}/${splitKey(shownCode(inspected.link) as typeof inspected.link.code).code}`;
    const view = { ...inspected, manageUrl, shownUrl, history, hours, others };
    return renderPage(call, data, (context) => linkPage(context, view));
  },
  ({ operator, allKeys }, show) =>
    async (call, formToken) => {
      const link = await operator.find(call.code);
      return isProblem(link)
        ? answerPageProblem(call, link)
        : show(call, { formToken, manageKey: allKeys.manageKey(link) });
    },
);

/** The desk, with a case or without. */
const DESK = /^\/admin(?:\?|$)/;

export const decideLink = operatorForm("POST /admin/links/{code}", (parts) => {
  const { operator, cases, allKeys, views } = parts;
  const [show, desk] = [views.show(showLink), views.show(showDesk)];
  return async (form) => {
    const { call } = form;
    const link = await operator.find(call.code);
    const seen = requireCase(call.code, link, [form.textOf("seen")], call.domain.codeCase);
    if (!isProblem(seen) && !("revision" in seen)) {
      const answer = { ...form.decision, action: form.action };
      const answered = await cases.answerCase(seen, answer, form.actor);
      return isProblem(answered) ? desk(call, form.refused(answered)) : form.decided(answered);
    }
    if (isProblem(link)) return answerPageProblem(call, link);
    const outcome = await decide(parts, link, form);
    if (!isProblem(outcome)) return form.decided(outcome, linkPath(link.code));
    return DESK.test(form.textOf("back"))
      ? desk(call, form.refused(outcome))
      : show(call, { ...form.refused(outcome), manageKey: allKeys.manageKey(link) });
  };
});

function linkPage(context: PageContext, view: LinkView): Page {
  const { say, nowMs, hasChanged } = context;
  const { link, reported, manageUrl, shownUrl, history, hours, others, visits } = view;
  const isGone = link.disabled === "deleted";
  const isChangeable = link.disabled === undefined && link.blocked === undefined && !hasEnded(link, nowMs);
  const works = redirects(link, nowMs);
  return adminPage(
    context,
    "links",
    <Given text={shownCode(link)} />,
    <div class="columns">
      <div>
        {hasChanged && <Difference context={context} link={link} />}
        <Ticket
          state={works ? undefined : "torn"}
          stub={
            <>
              <Address language={context.language} url={shownUrl} isTitle={false} />
              <StateChip context={context} link={link} />
            </>
          }
          foot={!isGone && <Decisions context={context} details={view} others={others} />}
        >
          {!isGone && <LinkDestination {...{ context, link, works }} Title="h2" />}
          <Figures {...{ context, createdMs: link.createdMs, hours, visits, reported }} />
          {reported !== undefined && (
            <>
              <ReportFacts context={context} one={reported} />
              <Notes context={context} one={reported} />
            </>
          )}
        </Ticket>
        {isChangeable && <Change context={context} link={link} manageUrl={manageUrl} />}
        {!isGone && <Erasure context={context} link={link} />}
      </div>
      <div>
        <h2>{say("admin.history")}</h2>
        <div class="timeline">
          <Entries context={context} entries={history} back={linkPath(link.code)} />
          <Facts context={context} view={view} />
        </div>
      </div>
    </div>,
    {
      path: linkPath(link.code),
      isHidden: true,
      above: !isGone && (
        <a class="back" href={withQuery("/admin/links", { host: targetHost(link.target) })}>
          ← {say("admin.links-to", { host: describeDestination(link.target).host })}
        </a>
      ),
    },
  );
}

/** Shows how the link has changed since the operator saw it. */
function Difference({ context, link }: { context: PageContext; link: StoredLink }) {
  const { language, say, sent } = context;
  const was = sent.get("was") ?? "";
  if (was === "") return <></>;
  if (was === link.target) return <p>{say("admin.changed.terms")}</p>;
  return (
    <>
      <p>{say("admin.changed.was")}</p>
      <FullAddress language={language} address={describeDestination(was).address} />
    </>
  );
}

function Facts({ context, view }: { context: PageContext; view: LinkView }) {
  const { language, say } = context;
  const { link, bots } = view;
  const isGone = link.disabled === "deleted";
  const { createdBy, owner } = link.terms ?? {};
  const { ended, changedMs, formerHost }: Terms = isGone ? {} : (link.terms ?? {});
  return (
    <dl class="facts">
      <InstantFact language={language} name="preview.created" ms={link.createdMs} />
      {owner !== undefined && (
        <Fact name={say("owner")}>
          <a href={withQuery("/admin/links", { q: `owner:${owner}` })}>{owner}</a>
        </Fact>
      )}
      {createdBy !== undefined && (
        <Fact name={say("created-by")}>
          <a href={withQuery("/admin/links", { q: `by:${createdBy}` })}>{createdBy}</a>
        </Fact>
      )}
      {TERM_NAMES.map((name) => (!isGone || name === "expires_at") && termFact(name, link, context))}
      {ended !== undefined && <Fact name={say("admin.ended")}>{say(`page.expired.title.${ended}`)}</Fact>}
      <InstantFact language={language} name="preview.changed" ms={changedMs} />
      {formerHost !== undefined && (
        <Fact name={say("admin.former")}>
          <HostName host={formerHost} />
        </Fact>
      )}
      <Fact name={say("preview.bots")}>{bots.toLocaleString(language)}</Fact>
      {!isGone && link.originalUrl !== link.target && (
        <Fact name={say("admin.as-sent")}>
          <Given text={link.originalUrl} />
        </Fact>
      )}
    </dl>
  );
}

/** The fact about a term, if the link has it. */
function termFact(name: TermName, link: WithEnd, context: PageContext): Child {
  const { terms } = link;
  const { language, say } = context;
  if (isOfKind(name, "flag")) return flagsOf(link).includes(name) && <FlagFact {...{ language, name }} />;
  if (!isOfKind(name, "text")) return TERM_FACTS[name](link, context);
  const text = terms?.[TERMS[name].stored];
  return (
    text !== undefined && (
      <Fact name={say(name)}>
        <bdi>{text}</bdi>
      </Fact>
    )
  );
}

const TERM_FACTS: Readonly<
  Record<Exclude<TermName, NameOf<"flag" | "text">>, (link: WithEnd, context: PageContext) => Child>
> = {
  expires_at: ({ endsMs }, { language, say }) => (
    <Fact name={say("preview.ends")}>
      {endsMs === NEVER_MS ? say("never") : <Instant language={language} ms={endsMs} />}
    </Fact>
  ),
  starts_at: ({ terms }, { language }) => (
    <InstantFact language={language} name="admin.starts" ms={terms?.startsMs} />
  ),
  max_visits: ({ terms: { maxVisits, visits = 0 } = {} }, { language, say }) =>
    maxVisits !== undefined && (
      <Fact name={say("admin.max-visits")}>
        {visits.toLocaleString(language)} / {maxVisits.toLocaleString(language)}
      </Fact>
    ),
  password: (link, { say }) =>
    hasPassword(link) && <Fact name={say("admin.password")}>{say("admin.password.yes")}</Fact>,
};
