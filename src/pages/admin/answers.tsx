/** @jsxImportSource ../shared/html */
import type { StoredLink } from "../../links/link.ts";
import { type Reason, REASONS } from "../../links/problem.ts";
import { mainReason, MAX_NOTE_LENGTH, type NotedCase } from "../../moderation/case.ts";
import type { Suggestion } from "../../moderation/harm.ts";
import type { HostLinks } from "../../moderation/inspection.ts";
import { readReason } from "../../moderation/operator.ts";
import { isThere } from "./case-facts.tsx";
import { Form, seenFields } from "./decision-form.tsx";
import { Key } from "./key.tsx";
import { linkPath } from "./link-to.tsx";
import { readChoice } from "./operator-page.ts";
import type { PageContext } from "./page-context.ts";

/** Blocking the host of more links than this needs a second press. */
export const MANY_LINKS = 20;

/** Whether blocking a host with these links needs confirmation. */
export function isMany({ count, isAll }: Pick<HostLinks, "count" | "isAll">): boolean {
  return count > MANY_LINKS || !isAll;
}

export function countOf({ say, language }: PageContext, { count, isAll }: HostLinks): string {
  if (isAll) return say("admin.found.links", { count });
  return say("admin.links.over", { count: count.toLocaleString(language) });
}

interface AnswersProps {
  readonly context: PageContext;
  readonly one: NotedCase;
  /** Without a link, there is nothing to disable or block. */
  readonly link: StoredLink | undefined;
  readonly host: HostLinks;
  readonly suggestion: Suggestion | undefined;
  /** Where the operator returns. */
  readonly back: string;
  /** The page that asks whether to block a host with many links. */
  readonly askPath: string;
  /** Set on that page: the address to return to. */
  readonly cancelPath?: string | undefined;
}

/** The answers to a case, each with its key. The suggested one is filled. */
export function Answers(props: AnswersProps) {
  const { context, one, link, host, suggestion, back, askPath, cancelPath } = props;
  const { say, sent, hasChanged } = context;
  const reason = readReason(readChoice(sent).reason) ?? mainReason(one);
  const name = say(`reason.${reason}`);
  const note = sent.get("note") ?? "";
  const disable = hasChanged ? "disable-anyway" : "disable";
  const isFilled = suggestion?.action === "disable" || hasChanged || cancelPath !== undefined;
  return (
    <Form context={context} action={linkPath(one.code)} hidden={{ ...seenFields(link, one), reason, back }}>
      <div class="why">
        <p>
          <Why context={context} suggestion={suggestion} isAsking={cancelPath !== undefined} />
        </p>
        <button type="button" class="quiet" popovertarget="note" aria-keyshortcuts="n">
          {say(note === "" ? "admin.note.add" : "admin.note.kept")}
          <Key name="N" />
        </button>
        <div id="note" class="menu" popover="auto">
          <label>
            <span>{say("admin.note")}</span>
            <textarea name="note" rows="3" maxlength={MAX_NOTE_LENGTH} autofocus>
              {note}
            </textarea>
          </label>
          <p>{say("admin.note.hint")}</p>
        </div>
      </div>
      <div class="answers">
        {isThere(link) && (
          <span class="split">
            <button
              name="action"
              value={disable}
              class={isFilled ? "primary danger" : undefined}
              aria-keyshortcuts="d"
            >
              {say(hasChanged ? "admin.do.disable-anyway.for" : "admin.disabled.for", { reason: name })}
              <Key name="D" />
            </button>
            <button
              type="button"
              class={isFilled ? "primary danger" : undefined}
              popovertarget="reasons"
              aria-label={say("admin.reason.other")}
              aria-keyshortcuts="r"
            >
              ▾
            </button>
          </span>
        )}
        <Reasons context={context} action={disable} reasons={one.reasons} main={reason} />
        {isThere(link) && <BlockHost {...{ context, host, askPath, cancelPath }} />}
        {cancelPath === undefined && (
          <button
            {...{ name: "action", value: "nothing", "aria-keyshortcuts": "x" }}
            class={suggestion?.action === "nothing" ? "primary" : undefined}
          >
            {say("admin.do.nothing")}
            <Key name="X" />
          </button>
        )}
      </div>
    </Form>
  );
}

interface WhyProps extends Pick<AnswersProps, "context" | "suggestion"> {
  readonly isAsking: boolean;
}

function Why({ context: { say, hasChanged }, suggestion, isAsking }: WhyProps) {
  if (hasChanged) return say("admin.anyway");
  if (isAsking) return say("admin.ask.only");
  if (suggestion === undefined) return <span class="soft">{say("admin.suggest.none")}</span>;
  return (
    <>
      <strong>{say(`admin.suggest.${suggestion.action}`)}</strong> {say(`admin.suggest.${suggestion.why}`)}
    </>
  );
}

interface ReasonsProps {
  readonly context: PageContext;
  readonly action: string;
  /** How many reports gave each reason, and the one that most gave. */
  readonly reasons?: NotedCase["reasons"];
  readonly main?: Reason;
}

/** Disables for one of the reasons. Their keys only work while the menu is open. */
export function Reasons({ context: { say }, action, reasons = {}, main }: ReasonsProps) {
  return (
    <div id="reasons" class="menu" popover="auto">
      {REASONS.map((reason, nth) => (
        <button
          {...{ name: "action", value: `${action}:${reason}`, "aria-keyshortcuts": String(nth + 1) }}
          aria-current={reason === main ? "true" : undefined}
        >
          <Key name={String(nth + 1)} /> {say(`reason.${reason}`)}{" "}
          {reasons[reason] !== undefined && (
            <small class="soft">{say("admin.reports", { count: reasons[reason] })}</small>
          )}
        </button>
      ))}
    </div>
  );
}

/** Blocks a host with few links right away; for one with many, it opens a page that asks. */
function BlockHost({
  context,
  host,
  askPath,
  cancelPath,
}: Pick<AnswersProps, "context" | "host" | "askPath" | "cancelPath">) {
  const { say } = context;
  const links = countOf(context, host);
  if (cancelPath !== undefined)
    return (
      <>
        <a class="button quiet" href={cancelPath} aria-keyshortcuts="Escape">
          {say("admin.cancel")}
          <Key name="Esc" />
        </a>
        <button
          {...{ name: "action", value: "block-host", "aria-keyshortcuts": "Shift+B" }}
          class="apart danger"
        >
          {say("admin.block.all", { links })}
          <Key name="⇧B" />
        </button>
      </>
    );
  if (isMany(host))
    return (
      <a class="button" href={askPath} aria-keyshortcuts="b">
        {say("admin.block.ask", { links })}
        <Key name="B" />
      </a>
    );
  return (
    <button {...{ name: "action", value: "block-host", "aria-keyshortcuts": "b" }}>
      {say("admin.block.links", { links })}
      <Key name="B" />
    </button>
  );
}
