/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import { parametersOf } from "../../http/url.ts";
import { isProblem } from "../../links/problem.ts";
import { DAY_MS } from "../../links/time.ts";
import { entryOf, type ListItems } from "../../moderation/inspection.ts";
import { type Action, ACTIONS } from "../../moderation/moderation-store.ts";
import { withQuery } from "../shared/with-query.ts";
import { Entries } from "./entries.tsx";
import { filledFields } from "./found-links.tsx";
import { adminPage, Empty, More } from "./frame.tsx";
import { Given } from "./link-to.tsx";
import { listPageOf, operatorForm, operatorPage, renderPage } from "./operator-page.ts";
import { type PageContext, type RelatedEntry, withRelated } from "./page-context.ts";

/** The actions of each kind of decision. */
const KINDS = {
  "": ACTIONS,
  links: ["disable", "enable", "change", "correct", "hand-over", "erase"],
  hosts: ["block-host", "unblock-host"],
  cases: ["nothing-wrong", "reopen"],
  "did.undo": ["undo"],
} as const satisfies Record<string, readonly Action[]>;
type Kind = keyof typeof KINDS;
type Label = Exclude<Kind, ""> | "journal.all";

interface Journal extends ListItems<RelatedEntry> {
  /** The name of an operator and a kind of decision; "" is any. */
  readonly filter: { readonly by: string; readonly action: Kind };
}

/** All decisions, newest first. */
export const showJournal = operatorPage("GET /admin/journal", (inspection) => async (call, data) => {
  const { by = "", action: written = "" } = Object.fromEntries(parametersOf(call.request));
  const action = Object.hasOwn(KINDS, written) ? (written as Kind) : "";
  const filter = by + action === "" ? undefined : { by, actions: KINDS[action] };
  const { items, cursor } = await inspection.decisions(listPageOf(call), filter);
  const journal = { items: await withRelated(inspection, items), cursor, filter: { by, action } };
  const next = journalPath({ by, action, cursor: cursor ?? "" });
  // Skips pages on which the filter found nothing.
  const more = cursor !== undefined && items.length === 0 ? { Refresh: `0; url=${next}` } : {};
  return renderPage(call, data, (context) => journalPage(context, journal), more);
});

const journalPath = (query: object) => withQuery("/admin/journal", filledFields(query));

/** Undoes one entry. If that isn't possible, the journal shows why. */
export const undoForm = operatorForm("POST /admin/journal", ({ operator, views }) => {
  const show = views.show(showJournal);
  return async ({ call, textOf, actor, ...form }) => {
    const outcome = await operator.undo(entryOf(textOf("entry")), {}, actor);
    return isProblem(outcome) ? show(call, form.refused(outcome)) : form.decided(outcome);
  };
});

function journalPage(context: PageContext, { items, cursor, filter }: Journal): Page {
  const { language, say } = context;
  const days = Map.groupBy(items, ({ atMs }) => Math.floor(atMs / DAY_MS));
  const date = new Intl.DateTimeFormat(language, { dateStyle: "full", timeZone: "UTC" });
  return adminPage(
    context,
    "journal",
    say("admin.journal"),
    <>
      <Filters {...{ context, items, filter }} />
      {items.length === 0 && cursor === undefined && (
        <Empty context={context} texts={["admin.journal.empty"]} />
      )}
      <div class="days" data-days>
        {[...days].map(([day, entries]) => (
          <>
            <h2>{date.format(day * DAY_MS)}</h2>
            <Entries context={context} entries={entries} back={journalPath(filter)} />
          </>
        ))}
      </div>
      {cursor !== undefined && (
        <More context={context} path="/admin/journal" query={filledFields({ ...filter, cursor })} />
      )}
    </>,
    { summary: say("admin.journal.intro") },
  );
}

/** Links to the decisions of each operator on this page, and of each kind. */
function Filters({ context: { say }, items, filter }: Omit<Journal, "cursor"> & { context: PageContext }) {
  const names = items.flatMap(({ who, by }) => (who === "person" ? [] : (by ?? [])));
  const choices = {
    by: ["", filter.by, ...names].map((name) => [name, name || say("admin.journal.everybody")]),
    action: Object.keys(KINDS).map((kind) => [kind, say(`admin.${(kind || "journal.all") as Label}`)]),
  } as const;
  return (
    <div class="ranges">
      {(["by", "action"] as const).map((field) => (
        <nav aria-label={say(field === "by" ? "admin.journal.by" : "admin.journal.about")}>
          {[...new Map(choices[field] as [string, string][])].map(([value, text]) => (
            <a
              href={journalPath({ ...filter, [field]: value })}
              {...(value === filter[field] && { "aria-current": "true" })}
            >
              <Given text={text} />
            </a>
          ))}
        </nav>
      ))}
    </div>
  );
}
