/** @jsxImportSource ./html */
import { message, sentenceSpace } from "../../locales/messages.ts";
import { type Destination, splitHost } from "./destination-parts.ts";
import { FullAddress, Host } from "./host.tsx";
import { type Noted, NoteList, notesOf } from "./warnings.tsx";

interface LeadsProps extends Noted {
  readonly language: string;
  /** Undefined if only those who know the link's password are told. */
  readonly destination: Destination | undefined;
  /** Whether the link leads nowhere any more. */
  readonly isOver: boolean;
  /** Where the button leads, if there is one. */
  readonly href: string | undefined;
  /** Set if the button sends a form. */
  readonly method?: "post" | undefined;
  /** Whether the whole address is shown, or the host alone. */
  readonly showsAddress: boolean;
  /** Whether following the link is what most readers came for. */
  readonly isFirst: boolean;
}

/** Where a link leads, what is unusual about that, and the way on. */
export function Leads(props: LeadsProps) {
  const { language, destination, isOver, href, showsAddress, isFirst } = props;
  const { warnings, notes } = notesOf(language, props, destination);
  const isPrimary = isFirst && warnings.length === 0;
  return (
    <section class={isOver ? "card leads over" : "card leads"} aria-labelledby="leads">
      <h2 id="leads">{leadsTo(language, !isOver)}</h2>
      {destination === undefined ? (
        <p>{message(language, "preview.secret")}</p>
      ) : (
        <>
          <Host destination={destination} />
          {destination.asciiHost !== undefined && (
            <p class="hint">
              {message(language, "preview.idn")}
              {sentenceSpace(language)}
              <bdi dir="ltr">{destination.asciiHost}</bdi>
            </p>
          )}
        </>
      )}
      <NoteList kind="warnings" notes={warnings} />
      {destination !== undefined && showsAddress && (
        <FullAddress language={language} address={destination.address} />
      )}
      <NoteList kind="hints" notes={notes} />
      {href !== undefined && <GoOn {...props} href={href} kind={isPrimary ? "button primary" : "button"} />}
    </section>
  );
}

type GoOnProps = Pick<LeadsProps, "language" | "destination" | "method"> & {
  readonly href: string;
  readonly kind: string;
};

function GoOn({ language, destination, method, href, kind }: GoOnProps) {
  const text =
    destination === undefined ? (
      message(language, "password.open")
    ) : (
      <Continue language={language} domain={splitHost(destination)[1]} />
    );
  if (method !== undefined)
    return (
      <form method={method} action={href}>
        <button class={kind}>{text}</button>
      </form>
    );
  return (
    <p>
      <a class={kind} href={href} rel="nofollow noreferrer">
        {text}
      </a>
    </p>
  );
}

/** Narrower than any button, in characters. */
const SHORT = 20;

/** A short name stays in one piece. */
function Continue({ language, domain }: { language: string; domain: string }) {
  const [before, after] = message(language, "preview.continue").split("{domain}");
  return (
    <>
      {before}
      <bdi dir="ltr" {...(domain.length <= SHORT && { class: "piece" })}>
        {domain}
      </bdi>
      {after}
    </>
  );
}

export function leadsTo(language: string, leadsOn: boolean): string {
  return message(language, leadsOn ? "preview.leads" : "preview.led");
}
