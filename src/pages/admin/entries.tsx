/** @jsxImportSource ../shared/html */
import type { DecisionEntry, Replaced } from "../../moderation/moderation-store.ts";
import { HostName } from "../shared/destination.tsx";
import { numberFormat } from "../shared/in-words.ts";
import { Instant } from "../shared/instant.tsx";
import { Form } from "./decision-form.tsx";
import { Key } from "./key.tsx";
import { Given, LinkTo } from "./link-to.tsx";
import type { PageContext, RelatedEntry } from "./page-context.ts";

interface EntriesProps {
  readonly context: PageContext;
  readonly entries: readonly RelatedEntry[];
  /** Where the operator returns after an undo. */
  readonly back: string;
}

/** Entries of the operator's journal, each with what it replaced, and a button that undoes it if that is possible. */
export function Entries({ context, entries, back }: EntriesProps) {
  const { language, say } = context;
  return (
    <ul class="entries">
      {entries.map((entry) => (
        <li class={entry.undoneBy === undefined ? undefined : "undone"}>
          <span class="soft">
            <Instant language={language} ms={entry.atMs} />
          </span>
          <span>
            <Actor context={context} entry={entry} />
          </span>
          <div>
            <EntryLine context={context} entry={entry} />
            {entry.note !== undefined && (
              <p>
                <Given text={entry.note} />
              </p>
            )}
            <p class="hint">
              {say("admin.entry", { entry: String(entry.entry) })}
              {entry.replaced.length > 0 && [" · ", <Before context={context} entry={entry} />]}
              {entry.links === undefined && ` · ${say("admin.replaced.none")}`}
              {entry.undoneBy !== undefined && [
                ` · ${say("admin.did.undone")} · `,
                <Actor context={context} entry={entry.undoneBy} />,
                ` · ${say("admin.entry", { entry: String(entry.undoneBy.entry) })}`,
              ]}
            </p>
          </div>
          <Undo context={context} entry={entry} back={back} kind="quiet" />
        </li>
      ))}
    </ul>
  );
}

interface EntryProps {
  readonly context: PageContext;
  readonly entry: RelatedEntry;
}

/** A decision, with its link or host. */
export function EntryLine({ context, entry }: EntryProps) {
  const { say } = context;
  const { original, reason } = entry;
  return (
    <>
      <strong>{say(`admin.did.${entry.action}`)}</strong>{" "}
      <Subject context={context} entry={entry} all={original?.links} />
      {original !== undefined &&
        ` (${say(`admin.did.${original.action}`)}, ${say("admin.entry", { entry: String(original.entry) })})`}
      {reason !== undefined && ` · ${say(`reason.${reason}`)}`}
    </>
  );
}

interface UndoProps extends EntryProps {
  readonly back: string;
  /** The class of the button. */
  readonly kind: "" | "quiet";
  readonly hasKey?: boolean;
}

/** The button that undoes an entry, if that is possible. */
export function Undo({ context, entry: { entry, isUndoable }, back, kind, hasKey = false }: UndoProps) {
  if (!isUndoable) return <></>;
  const name = context.say("admin.entry", { entry: String(entry) });
  return (
    <Form context={context} action="/admin/journal" hidden={{ entry: String(entry), back }}>
      <button class={kind} {...(hasKey && { "aria-keyshortcuts": "u" })}>
        {context.say("admin.undo")} <span class="unseen">{name}</span>
        {hasKey && <Key name="U" />}
      </button>
    </Form>
  );
}

function Before({ context, entry }: EntryProps) {
  const states = entry.replaced.map((one) => inWords(context, one)).join(" · ");
  return context.say("admin.replaced", { states });
}

interface SubjectProps {
  readonly context: PageContext;
  readonly entry: DecisionEntry;
  /** The number of links of the decision that it undoes. */
  readonly all?: number | undefined;
}

/** The link, the host and the number of links that an entry is about. */
function Subject({ context: { say }, entry, all = entry.links ?? 0 }: SubjectProps) {
  const { code, host, links: count = 0 } = entry;
  return (
    <>
      {code !== undefined && <LinkTo code={code} />} {host !== undefined && <HostName host={host} />}{" "}
      {all > 1 && say(count === all ? "admin.found.links" : "admin.undo.part", { count, all })}
    </>
  );
}

/** Who decided, by name if there is one. */
function Actor({ context: { say }, entry: { by, who } }: { context: PageContext; entry: DecisionEntry }) {
  if (by === undefined) return say(`admin.who.${who}`);
  return (
    <>
      <Given text={by} />
      {who !== "page" && ` · ${say(`admin.who.${who}`)}`}
    </>
  );
}

/** The states before a decision, each with its number of links if there are several. */
function inWords({ language, say }: PageContext, one: Replaced): string {
  if ("became" in one) return `${one.value ?? NOBODY} → ${one.became ?? NOBODY}`;
  const { kind, value, count } = one;
  const states: string[] = [];
  if (kind === "case") {
    states.push(say(value === undefined ? "admin.case.open" : `admin.answered.${value}`));
    if (one.byReports) states.push(say("admin.case.by-reports"));
  } else {
    const [key, none] = KEYS[kind];
    const reason = value !== undefined && say(`reason.${value}`);
    states.push(reason === false ? say(none) : say(key, { reason }));
  }
  const state = states.join(", ");
  return count === 1 ? state : `${numberFormat(language).format(count)} × ${state}`;
}

const NOBODY = "–";
const KEYS = {
  link: ["admin.disabled", "admin.state.active"],
  host: ["admin.blocked", "admin.unblocked"],
} as const;
