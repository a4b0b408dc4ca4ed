/** @jsxImportSource ../shared/html */
import { isOfKind, type OpenName } from "../../links/terms/terms.ts";
import { message } from "../../locales/messages.ts";
import type { DecisionEntry, Replaced } from "../../moderation/moderation-store.ts";
import type { Child } from "../shared/html/jsx-runtime.ts";
import { numberFormat } from "../shared/in-words.ts";
import { Instant } from "../shared/instant.tsx";
import { NAMES } from "./fields.tsx";

/** A value that a person has replaced. */
type Correction = Extract<Replaced, { readonly became: string | undefined }>;

interface HistoryProps {
  readonly language: string;
  readonly history: readonly DecisionEntry[];
  readonly canRetarget: boolean;
  /** The form that brings the former values of an entry back. Undefined if the link can't change. */
  readonly BringBack: ((props: { readonly entry: DecisionEntry }) => Child) | undefined;
}

/** Lists who changed the link, with the former and the new values, newest first. */
export function History({ language, history, canRetarget, BringBack }: HistoryProps) {
  const mayBringBack = ({ action, isUndoable, replaced }: DecisionEntry) =>
    action === "correct" && isUndoable && (canRetarget || replaced.every(({ kind }) => kind !== "target"));
  return (
    <section class="history" aria-labelledby="history">
      <h2 id="history">{message(language, "manage.history")}</h2>
      <ol>
        {history.map((entry) => (
          <li class={entry.undone === undefined ? undefined : "undone"}>
            <p>
              <strong>{nameOf(language, entry)}</strong>{" "}
              <span class="soft">{message(language, "admin.entry", { entry: String(entry.entry) })}</span>
            </p>
            <p class="hint">
              <bdi>
                {entry.by ??
                  message(language, entry.who === "person" ? "manage.key" : "manage.history.operator")}
              </bdi>{" "}
              · <Instant language={language} ms={entry.atMs} />
              {entry.undone !== undefined &&
                ` · ${message(language, "admin.did.undone")}, ${message(language, "admin.entry", { entry: String(entry.undone) })}`}
            </p>
            {entry.replaced.filter(isCorrection).map((one) => (
              <p>
                {nameOfValue(language, one)} <del>{inWords(language, one.kind, one.value)}</del> →{" "}
                <ins>{inWords(language, one.kind, one.became)}</ins>
              </p>
            ))}
            {entry.action === "correct" && entry.replaced.length === 0 && (
              <p>{message(language, "manage.history.secret")}</p>
            )}
            {BringBack !== undefined && mayBringBack(entry) && <BringBack entry={entry} />}
          </li>
        ))}
      </ol>
    </section>
  );
}

function isCorrection(one: Replaced): one is Correction {
  return "became" in one;
}

function nameOf(language: string, { action, undoes }: DecisionEntry): string {
  if (action === "hand-over") return message(language, "admin.did.hand-over");
  return undoes === undefined
    ? message(language, "admin.did.correct")
    : message(language, "manage.history.undo", { entry: String(undoes) });
}

function nameOfValue(language: string, { kind }: Correction): string {
  if (kind === "owner") return message(language, "owner");
  return message(language, kind === "target" ? "manage.target" : NAMES[kind]);
}

function inWords(language: string, kind: Correction["kind"], value: string | undefined): Child {
  if (kind === "owner" || kind === "target") return <bdi>{value ?? message(language, "manage.none")}</bdi>;
  return termInWords(language, kind, value);
}

function termInWords(language: string, name: OpenName, value: string | undefined): Child {
  if (isOfKind(name, "flag")) return message(language, value === undefined ? "manage.off" : `${name}.yes`);
  if (value === undefined) return message(language, name === "expires_at" ? "never" : "manage.none");
  if (isOfKind(name, "when")) return <Instant language={language} ms={Date.parse(value)} />;
  return <bdi>{isOfKind(name, "count") ? numberFormat(language).format(Number(value)) : value}</bdi>;
}
