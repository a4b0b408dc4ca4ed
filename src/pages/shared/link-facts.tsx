/** @jsxImportSource ./html */
import { formerHostOf } from "../../links/change.ts";
import { hasPassword, type Link, type WithTerms } from "../../links/link.ts";
import { isOfKind, type NameOf, TERM_NAMES, TERMS } from "../../links/terms/terms.ts";
import { NEVER_MS } from "../../links/time.ts";
import { message, type MessageKey } from "../../locales/messages.ts";
import type { Child } from "./html/jsx-runtime.ts";
import { numberFormat, richMessage } from "./in-words.ts";
import { Instant } from "./instant.tsx";

/** The last change of a link's target. */
export interface Changed {
  readonly atMs: number;
  /** Undefined if it is secret or unknown. */
  readonly formerHost: string | undefined;
}

type LifetimeProps = Pick<Link, "createdMs" | "endsMs" | "terms"> & {
  readonly language: string;
  readonly hasEnded: boolean;
  readonly changed?: Changed | undefined;
  readonly disabledSinceMs?: number | undefined;
};

/** When a link was created, when it ends and when it was changed, in a line. */
export function Lifetime(props: LifetimeProps) {
  const { language, createdMs, endsMs, terms, hasEnded, changed, disabledSinceMs } = props;
  return (
    <dl class="lifetime">
      <InstantFact language={language} name="preview.created" ms={createdMs} />
      <InstantFact language={language} name="preview.changed" ms={changed?.atMs} />
      {endsMs === NEVER_MS ? (
        <div>
          <dt class="unseen">{message(language, "preview.ends")}</dt>
          <dd>{message(language, "home.endless")}</dd>
        </div>
      ) : (
        <InstantFact language={language} name={hasEnded ? "preview.ended" : "preview.ends"} ms={endsMs} />
      )}
      {terms?.maxVisits !== undefined && (
        <Fact name={message(language, "preview.max-visits")}>
          {numberFormat(language).format(terms.maxVisits)}
        </Fact>
      )}
      {flagsOf({ terms }).map((name) => (
        <FlagFact {...{ language, name }} />
      ))}
      <InstantFact language={language} name="preview.disabled" ms={disabledSinceMs} />
    </dl>
  );
}

/** The flags that a link has. */
export function flagsOf({ terms }: WithTerms): NameOf<"flag">[] {
  return TERM_NAMES.filter((name) => isOfKind(name, "flag")).filter(
    (name) => terms?.[TERMS[name].stored] === true,
  );
}

interface FlagFactProps {
  readonly language: string;
  readonly name: NameOf<"flag">;
}

export function FlagFact({ language, name }: FlagFactProps) {
  return <Fact name={message(language, name)}>{message(language, `${name}.yes`)}</Fact>;
}

interface FactProps {
  readonly name: string;
  readonly children?: Child;
}

/** An item of a list of class `facts` or `lifetime`. */
export function Fact({ name, children }: FactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface InstantFactProps {
  readonly language: string;
  readonly name: MessageKey;
  /** Undefined shows nothing. */
  readonly ms: number | undefined;
}

export function InstantFact({ language, name, ms }: InstantFactProps) {
  if (ms === undefined) return null;
  return (
    <Fact name={message(language, name)}>
      <Instant language={language} ms={ms} />
    </Fact>
  );
}

interface StartProps {
  readonly language: string;
  readonly ms: number;
}

/** When a link starts, and what others see until then. */
export function FutureStart({ language, ms }: StartProps) {
  const starts = <Instant language={language} ms={ms} />;
  return (
    <>
      <p class="start">{richMessage(language, "scheduled.future", { starts })}</p>
      <p class="soft">{message(language, "scheduled.until")}</p>
    </>
  );
}

/** When a link started that was created with a later start. */
export function PastStart({ language, ms }: StartProps) {
  const starts = <Instant language={language} ms={ms} />;
  return <p class="soft">{richMessage(language, "scheduled.past", { starts })}</p>;
}

/** The last change of a link. A former host may be as secret as the present one, behind the password. */
export function targetChangeOf(link: Pick<Link, "target" | "terms">, nowMs: number): Changed | undefined {
  const { changedMs } = link.terms ?? {};
  if (changedMs === undefined) return undefined;
  return { atMs: changedMs, formerHost: hasPassword(link) ? undefined : formerHostOf(link, nowMs) };
}
