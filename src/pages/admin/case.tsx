/** @jsxImportSource ../shared/html */
import type { DetachedCall } from "../../http/call.ts";
import { type LinkKey, splitKey } from "../../links/code.ts";
import { shownCode } from "../../links/link.ts";
import { isProblem } from "../../links/problem.ts";
import { targetHost } from "../../links/target.ts";
import { whenAgo } from "../../locales/relative-time.ts";
import type { NotedCase } from "../../moderation/case.ts";
import { type OpenCase, redirects, suggest } from "../../moderation/harm.ts";
import type { HostLinks, Inspection, LinkDetails } from "../../moderation/inspection.ts";
import { describeDestination } from "../shared/destination-parts.ts";
import { FullAddress } from "../shared/destination.tsx";
import type { Child } from "../shared/html/jsx-runtime.ts";
import { numberFormat } from "../shared/in-words.ts";
import { Fact } from "../shared/link-facts.tsx";
import { ShortAddress, Ticket } from "../shared/ticket.tsx";
import { withQuery } from "../shared/with-query.ts";
import { Answers, countOf } from "./answers.tsx";
import { Figures, isThere, LinkDestination, Notes, ReasonChip } from "./case-facts.tsx";
import { Entries } from "./entries.tsx";
import { StateChip } from "./found-links.tsx";
import { Key } from "./key.tsx";
import { deskPath, Given, linkPath } from "./link-to.tsx";
import type { PageContext } from "./page-context.ts";

export type DeskCase = NotedCase & OpenCase;

/** A case with everything that is known about it. */
interface KnownCase extends Pick<LinkDetails, "visits" | "history"> {
  readonly one: DeskCase;
  readonly host: HostLinks;
  /** The short address. */
  readonly url: string;
}

export interface CaseView extends KnownCase {
  /** Its place among `count` cases; -1 if it isn't open. */
  readonly nth: number;
  readonly count: number;
  readonly next: LinkKey | undefined;
  readonly previous: LinkKey | undefined;
}

const NO_LINKS: HostLinks = { count: 0, disabled: 0, makers: new Map(), isAll: true };

export async function readCase(
  inspection: Inspection,
  { domain }: DetachedCall,
  one: DeskCase,
): Promise<KnownCase> {
  const { link } = one;
  const details = link === undefined ? undefined : await inspection.details(link.code);
  const host = isThere(link) ? await inspection.linksTo(targetHost(link.target), link) : NO_LINKS;
  const shown = (link === undefined ? one.code : shownCode(link)) as LinkKey;
  const url = domain.ofKey(one.code)?.shownUrl(splitKey(shown).code) ?? shown;
  const isKnown = details !== undefined && !isProblem(details);
  return { one, host, url, ...(isKnown ? details : { visits: 0, history: [] }) };
}

export function CaseTicket({ context, view }: { context: PageContext; view: CaseView }) {
  const { say, nowMs, query } = context;
  const { one, url, nth, count, next, host } = view;
  const { link } = one;
  const isOpen = one.answer === undefined;
  const works = redirects(link, nowMs);
  const isAsking = query["action"] === "block-host" && isOpen && isThere(link);
  return (
    <article class="case" aria-labelledby="case">
      <Ticket
        state={works ? undefined : "torn"}
        stub={
          <>
            <h2 id="case" class="address" tabindex={-1} autofocus>
              <ShortAddress url={url} />
            </h2>
            {isOpen && <ReasonChip context={context} one={one} />}
            <StateChip context={context} link={link} />
          </>
        }
        picture={isOpen && <span class="soft">{say("admin.case.nth", { nth: nth + 1, count })}</span>}
        foot={
          isOpen ? (
            <Answers
              {...{ context, one, link, host }}
              suggestion={suggest(one, host, nowMs)}
              back={deskPath(next)}
              askPath={deskPath(one.code, { action: "block-host" })}
              cancelPath={isAsking ? deskPath(one.code) : undefined}
            />
          ) : (
            <div class="answers">
              <a class="button primary" href="/admin" aria-keyshortcuts="j">
                {say("admin.keys.next")}
                <Key name="J" />
              </a>
              <a class="button" href={linkPath(one.code)}>
                {say("admin.case.page")}
              </a>
            </div>
          )
        }
      >
        <Alert context={context} view={view} isAsking={isAsking} />
        {isThere(link) && <LinkDestination {...{ context, link, works }} Title="h3" />}
        <Figures
          {...{
            context,
            link,
            createdMs: one.createdMs,
            hours: one.hours,
            visits: view.visits,
            reported: one,
          }}
        />
        <div class="evidence">
          <section>
            <h3>{say("admin.notes")}</h3>
            <Notes context={context} one={one} />
          </section>
          <section>
            <h3>{say("admin.known")}</h3>
            <Known context={context} view={view} />
          </section>
        </div>
      </Ticket>
    </article>
  );
}

interface AlertProps {
  readonly context: PageContext;
  readonly view: CaseView;
  readonly isAsking: boolean;
}

/** Why nothing was decided, who has decided, or what a decision would stop. */
function Alert({ context, view, isAsking }: AlertProps): Child {
  const { language, say, nowMs, refusal, hasChanged, sent } = context;
  const { one, host, history } = view;
  const { link } = one;
  if (hasChanged && link !== undefined) {
    const changedMs = link.terms?.changedMs;
    const was = sent.get("was") ?? "";
    return (
      <div class="alert" role="alert">
        <p>{say("admin.changed")}</p>
        {was === link.target ? (
          <p>{say("admin.changed.terms")}</p>
        ) : (
          <>
            <p>
              {say("admin.changed.was")}
              {changedMs !== undefined && ` (${whenAgo(language, (nowMs - changedMs) / 1000)})`}
            </p>
            <s>
              <FullAddress language={language} address={describeDestination(was).address} />
            </s>
          </>
        )}
      </div>
    );
  }
  if (refusal !== undefined)
    return (
      <p class="alert" role="alert">
        {refusal}
      </p>
    );
  if (isAsking && link !== undefined) {
    const shown = { host: describeDestination(link.target).host, links: countOf(context, host) };
    return (
      <div class="alert" role="alert">
        <h3>{say("admin.ask", shown)}</h3>
        <p>
          {[...host.makers]
            .toSorted(([, a], [, b]) => b - a)
            .slice(0, 5)
            .map(([maker, count], nth) => [
              nth > 0 && " · ",
              maker === "" ? say("admin.maker.none.short") : <Given text={maker} />,
              ` ${numberFormat(language).format(count)}`,
            ])}
        </p>
        <p>
          <a href={withQuery("/admin/links", { host: shown.host })}>{say("admin.links-to", shown)}</a>
        </p>
      </div>
    );
  }
  const [last] = history;
  if (one.answer !== undefined && last !== undefined)
    return (
      <div class="alert done">
        <h3>{say("admin.case.closed", { ago: whenAgo(language, (nowMs - one.answer.atMs) / 1000) })}</h3>
        <Entries context={context} entries={[last]} back={deskPath(one.code)} />
      </div>
    );
  return undefined;
}

/** Other links to the host, earlier decisions, and who created the link. */
function Known({ context, view: { one, host, history } }: { context: PageContext; view: CaseView }) {
  const { say } = context;
  const { link } = one;
  if (!isThere(link)) return <p class="hint">{say("admin.state.deleted")}</p>;
  const shown = describeDestination(link.target).host;
  const { createdBy } = link.terms ?? {};
  const others = { ...host, count: host.count - 1 };
  return (
    <dl class="known">
      <Fact name={say("admin.host.this")}>
        {others.count < 1 ? (
          say("admin.host.none")
        ) : (
          <a href={withQuery("/admin/links", { host: shown })}>
            {say("admin.host.others", { links: countOf(context, others) })}
            {host.disabled > 0 && ` · ${say("admin.host.disabled", { count: host.disabled })}`}
          </a>
        )}
      </Fact>
      <Fact name={say("admin.case.this")}>
        <a href={linkPath(one.code)}>
          {history.length === 0
            ? say("admin.case.none")
            : say("admin.case.history", { count: history.length })}
        </a>
      </Fact>
      <Fact name={say("created-by")}>
        {createdBy === undefined ? (
          say("admin.maker.none")
        ) : (
          <a href={withQuery("/admin/links", { q: `by:${createdBy}` })}>
            <Given text={createdBy} />
          </a>
        )}
      </Fact>
    </dl>
  );
}

/** There is nothing to decide. */
export function NoCase({ context: { say } }: { context: PageContext }) {
  return (
    <Ticket
      state="blank"
      stub={
        <div>
          <h2 id="case" tabindex={-1} autofocus>
            {say("admin.nothing")}
          </h2>
          <p>{say("admin.cases.empty")}</p>
          <p class="actions">
            <a class="button primary" href="/admin/links">
              {say("admin.nothing.links")}
            </a>
            <a class="button" href="/admin/journal">
              {say("admin.journal")}
            </a>
          </p>
        </div>
      }
    />
  );
}
