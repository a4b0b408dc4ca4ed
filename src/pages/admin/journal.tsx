/** @jsxImportSource ../shared/html */
import type { Page } from "../../http/page.ts";
import { message } from "../../locales/messages.ts";
import type { DecisionEntry } from "../../moderation/store.ts";
import { HostName } from "../shared/destination.tsx";
import { Instant } from "../shared/instant.tsx";
import { operatorPage, listPageOf, renderPage } from "./endpoint.ts";
import { adminPage, Empty, Given, LinkTo, More, type PageContext } from "./frame.tsx";

interface Journal {
  readonly entries: readonly DecisionEntry[];
  /** Undefined on the last page. */
  readonly cursor: string | undefined;
}

/** All decisions, newest first. */
export const showJournal = operatorPage("GET /admin/journal", (inspection) => async (call, data) => {
  const { items, cursor } = await inspection.decisions(listPageOf(call));
  return renderPage(call, data, (context) => journalPage(context, { entries: items, cursor }));
});

function journalPage(context: PageContext, { entries, cursor }: Journal): Page {
  const { language } = context;
  return adminPage(
    context,
    "journal",
    message(language, "admin.journal"),
    <>
      <p class="soft">{message(language, "admin.journal.intro")}</p>
      {entries.length === 0 && <Empty language={language} texts={["admin.journal.empty"]} />}
      <History language={language} entries={entries} />
      {cursor !== undefined && <More language={language} path="/admin/journal" query={{ cursor }} />}
    </>,
  );
}

export function History({ language, entries }: { language: string; entries: readonly DecisionEntry[] }) {
  return (
    <ul class="rows">
      {entries.map(({ action, code, host, reason, note, who, by, atMs }) => (
        <li>
          <div>
            <strong>{message(language, `admin.did.${action}`)}</strong>{" "}
            {code !== undefined && <LinkTo code={code} />}
            {host !== undefined && <HostName host={host} />}
          </div>
          <div class="soft">
            {reason !== undefined && `${message(language, `reason.${reason}`)} · `}
            {by !== undefined && (
              <>
                <Given text={by} /> ·{" "}
              </>
            )}
            {message(language, `admin.who.${who}`)} · <Instant language={language} ms={atMs} />
          </div>
          {note !== undefined && (
            <div>
              <Given text={note} />
            </div>
          )}
        </li>
      ))}
    </ul>
  );
}
