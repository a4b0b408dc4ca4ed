/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import { isProblem } from "../../links/problem.ts";
import { entryOf, type ListItems } from "../../moderation/inspection.ts";
import { Entries } from "./entries.tsx";
import { adminPage, Empty, More } from "./frame.tsx";
import { listPageOf, operatorForm, operatorPage, renderPage } from "./operator-page.ts";
import { type PageContext, type RelatedEntry, withRelated } from "./page-context.ts";

/** All decisions, newest first. */
export const showJournal = operatorPage("GET /admin/journal", (inspection) => async (call, data) => {
  const { items, cursor } = await inspection.decisions(listPageOf(call));
  const entries = { items: await withRelated(inspection, items), cursor };
  return renderPage(call, data, (context) => journalPage(context, entries));
});

/** Undoes one entry. If that isn't possible, the journal shows why. */
export const undoForm = operatorForm("POST /admin/journal", ({ operator, views }) => {
  const show = views.show(showJournal);
  return async ({ call, textOf, actor, ...form }) => {
    const outcome = await operator.undo(entryOf(textOf("entry")), {}, actor);
    return isProblem(outcome) ? show(call, form.refused(outcome)) : form.decided(outcome);
  };
});

function journalPage(context: PageContext, { items, cursor }: ListItems<RelatedEntry>): Page {
  const { say } = context;
  return adminPage(
    context,
    "journal",
    say("admin.journal"),
    <>
      {items.length === 0 && <Empty context={context} texts={["admin.journal.empty"]} />}
      <Entries context={context} entries={items} back="/admin/journal" />
      {cursor !== undefined && <More context={context} path="/admin/journal" query={{ cursor }} />}
    </>,
    { summary: say("admin.journal.intro") },
  );
}
