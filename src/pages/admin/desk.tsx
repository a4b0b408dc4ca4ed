/** @jsxImportSource ../shared/html */
import { parametersOf } from "../../http/url.ts";
import { shownCode } from "../../links/link.ts";
import { isProblem } from "../../links/problem.ts";
import { targetHost } from "../../links/target.ts";
import { DAY_MS } from "../../links/time.ts";
import { groupOf, GROUPS, visitsOf } from "../../moderation/harm.ts";
import type { ListItems } from "../../moderation/inspection.ts";
import { Chip } from "../shared/chip.tsx";
import { HostName } from "../shared/destination.tsx";
import { age, numberFormat } from "../shared/in-words.ts";
import { isThere, ReasonChip } from "./case-facts.tsx";
import { type CaseView, CaseTicket, type DeskCase, NoCase, readCase } from "./case.tsx";
import { Undo } from "./entries.tsx";
import { adminPage, More } from "./frame.tsx";
import { Key } from "./key.tsx";
import { deskPath, Given, LinkTo } from "./link-to.tsx";
import { listPageOf, operatorPage, renderPage } from "./operator-page.ts";
import { type PageContext, type RelatedEntry, withRelated } from "./page-context.ts";

/** Open cases on a page. */
const MAX_CASES = 100;
/** Entries of the journal that are searched for the operator's own, and those that are listed. */
const [RECENT, LISTED] = [20, 5];
/** A case that waits longer stands out. */
const LONG_MS = DAY_MS;

interface Desk extends ListItems<DeskCase> {
  /** The case in view. */
  readonly view: CaseView | undefined;
  /** Today's decisions of the operator. */
  readonly decided: readonly RelatedEntry[];
}

/** The operator's start page: open reports, the worst first, and everything that is known about one of them. */
export const showDesk = operatorPage("GET /admin", (inspection) => async (call, data) => {
  const { items, cursor } = await inspection.desk({ ...listPageOf(call), limit: MAX_CASES });
  const named = call.code || (parametersOf(call.request).get("code") ?? "");
  const at = items.findIndex(({ code }) => code === named);
  // Somebody else may have answered it.
  const other = named === "" || at >= 0 ? undefined : await inspection.details(named);
  const isOther = other !== undefined && !isProblem(other) && other.reported !== undefined;
  const one = isOther
    ? { ...other.reported, link: other.link, hours: await inspection.hours(other.link) }
    : items[Math.max(0, at)];
  const nth = one === undefined || isOther ? -1 : items.findIndex((item) => item === one);
  const view = one && {
    ...(await readCase(inspection, call, one)),
    nth,
    count: items.length,
    next: items[nth + 1]?.code,
    previous: items[nth - 1]?.code,
  };
  const since = inspection.nowMs() - DAY_MS;
  const recent = (await inspection.decisions({ limit: RECENT })).items.filter(
    ({ who, by, atMs }) => who === "page" && by === data.operator && atMs > since,
  );
  const decided = await withRelated(inspection, recent.slice(0, LISTED));
  return renderPage(call, data, (context) => deskPage(context, { items, cursor, view, decided }));
});

function deskPage(context: PageContext, desk: Desk) {
  const { say } = context;
  const { view, items, decided } = desk;
  const isEmpty = items.length === 0;
  return adminPage(
    context,
    "cases",
    say("admin.cases"),
    <div class={isEmpty && decided.length === 0 ? undefined : "workspace"}>
      {view === undefined ? <NoCase context={context} /> : <CaseTicket context={context} view={view} />}
      <div class="queue" id="queue">
        {!isEmpty && <Queue context={context} desk={desk} />}
        {decided.length > 0 && <Decided context={context} entries={decided} />}
      </div>
    </div>,
    {
      summary: isEmpty ? say("admin.cases.none") : say("admin.cases.open", { count: items.length }),
      beside: view !== undefined && !isEmpty && <Moves context={context} view={view} />,
      hasAlert: view !== undefined,
    },
  );
}

/** A disabled link, at an end of the queue. */
const NOWHERE = { role: "link", "aria-disabled": "true" };

/** Leads to the case before and the one after. On phones, also to the whole queue, which is below. */
function Moves({ context: { say }, view }: { context: PageContext; view: CaseView }) {
  const { nth, count, next, previous } = view;
  return (
    <nav class="moves" aria-label={say("admin.keys.move")}>
      <span>
        <Key name="J" />
        <Key name="K" />
      </span>
      <a
        class="button previous"
        aria-label={say("admin.keys.previous")}
        {...(previous === undefined ? NOWHERE : { href: deskPath(previous), "aria-keyshortcuts": "k" })}
      />
      <a class="button" href="#queue">
        {nth < 0 ? say("admin.cases") : say("admin.case.nth", { nth: nth + 1, count })}
      </a>
      <a
        class="button next"
        aria-label={say("admin.keys.next")}
        {...(next === undefined ? NOWHERE : { href: deskPath(next), "aria-keyshortcuts": "j" })}
      />
    </nav>
  );
}

function Queue({ context, desk: { items, cursor, view } }: { context: PageContext; desk: Desk }) {
  const { say, nowMs } = context;
  const groups = Map.groupBy(items, (one) => groupOf(one, nowMs));
  return (
    <>
      {GROUPS.map((group) => {
        const cases = groups.get(group) ?? [];
        return (
          cases.length > 0 && (
            <section aria-labelledby={`group-${group}`}>
              <h2 id={`group-${group}`}>
                <span>{say(`admin.group.${group}`)}</span> <span>{cases.length}</span>
              </h2>
              <ul>
                {cases.map((one) => (
                  <Row context={context} one={one} isCurrent={one.code === view?.one.code} />
                ))}
              </ul>
            </section>
          )
        );
      })}
      {cursor !== undefined && <More context={context} path="/admin" query={{ cursor }} />}
      <details>
        <summary>{say("admin.order")}</summary>
        <p class="hint">{say("admin.order.how")}</p>
      </details>
    </>
  );
}

interface RowProps {
  readonly context: PageContext;
  readonly one: DeskCase;
  readonly isCurrent: boolean;
}

/** A case of the queue: the whole row opens it. */
function Row({ context, one, isCurrent }: RowProps) {
  const { language, say, nowMs } = context;
  const { link, reports, firstMs } = one;
  const waitMs = nowMs - firstMs;
  const visits = numberFormat(language).format(visitsOf(one));
  return (
    <li>
      <a href={deskPath(one.code)} {...(isCurrent && { "aria-current": "true" })}>
        <span class="line">
          <strong class="code">
            <Given text={link === undefined ? one.code : shownCode(link)} />
          </strong>{" "}
          <ReasonChip context={context} one={one} />
        </span>{" "}
        {isThere(link) && (
          <span class="line">
            <HostName host={targetHost(link.target)} />
          </span>
        )}{" "}
        <span class="line soft">
          <span>
            {say("admin.reports.visits", { reports: say("admin.reports", { count: reports }), visits })}
          </span>{" "}
          {waitMs < LONG_MS ? (
            <span>{age(language, waitMs)}</span>
          ) : (
            <strong class="long">{say("admin.waits", { time: age(language, waitMs) })}</strong>
          )}
        </span>
      </a>
    </li>
  );
}

function Decided({ context, entries }: { context: PageContext; entries: readonly RelatedEntry[] }) {
  const { language, say, nowMs } = context;
  return (
    <section aria-labelledby="decided">
      <h2 id="decided">{say("admin.decided")}</h2>
      <ul class="decided">
        {entries.map((entry) => (
          <li>
            <span class="line">
              {entry.code === undefined ? entry.host : <LinkTo code={entry.code} />}{" "}
              <Chip>{say(`admin.did.${entry.action}`)}</Chip>
            </span>{" "}
            <span class="line soft">
              {say("admin.entry", { entry: String(entry.entry) })} · {age(language, nowMs - entry.atMs)}
              <Undo context={context} entry={entry} back={deskPath(entry.code)} kind="quiet" />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
