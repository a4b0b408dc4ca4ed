/** @jsxImportSource ../shared/html */
import { hasPassword, type FoundLink } from "../../links/link.ts";
import { isOfKind, type TermName, TERMS } from "../../links/terms/terms.ts";
import { NEVER_MS } from "../../links/time.ts";
import { message, type MessageKey } from "../../locales/messages.ts";
import type { Child } from "../shared/html/jsx-runtime.ts";
import { numberFormat } from "../shared/in-words.ts";
import { Instant } from "../shared/instant.tsx";

interface SettingProps {
  readonly language: string;
  readonly name: Child;
  readonly present: Child;
  readonly change?: MessageKey;
  /** Set if its field was refused. */
  readonly isOpen: boolean;
  readonly isDanger?: boolean;
  readonly children: Child;
}

/** A row with the present value. It opens in place. */
export function Setting({ language, name, present, change, isOpen, isDanger, children }: SettingProps) {
  return (
    <details class="setting" open={isOpen}>
      <summary>
        <strong>{name}</strong> <span class="soft">{present}</span>{" "}
        <span class={isDanger === true ? "change alarm" : "change"}>
          {message(language, change ?? "manage.change")}
        </span>
      </summary>
      {children}
    </details>
  );
}

/** The present value of a term in a few words. */
export function presentOf(language: string, { endsMs, terms }: FoundLink, name: TermName): Child {
  const none = message(language, "manage.none");
  const { maxVisits, visits = 0 } = terms ?? {};
  const { format } = numberFormat(language);
  if (isOfKind(name, "flag"))
    return message(language, terms?.[TERMS[name].stored] === true ? `${name}.yes` : "manage.off");
  if (isOfKind(name, "text")) {
    const text = terms?.[TERMS[name].stored];
    return text === undefined ? none : <bdi>{text}</bdi>;
  }
  switch (name) {
    case "expires_at":
      return endsMs === NEVER_MS ? message(language, "never") : <Instant language={language} ms={endsMs} />;
    case "starts_at":
      return <Instant language={language} ms={terms?.startsMs ?? 0} />;
    case "max_visits":
      return maxVisits === undefined
        ? none
        : message(language, "manage.visits.of", { used: format(visits), max: format(maxVisits) });
    case "password":
      return message(language, hasPassword({ terms }) ? "manage.password.set" : "manage.password.public");
  }
}
