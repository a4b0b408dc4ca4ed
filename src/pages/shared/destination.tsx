/** @jsxImportSource ./html */
import { message } from "../../locales/messages.ts";
import { type Destination, splitHost } from "./destination-parts.ts";
import { numberFormat, richMessage, sentences } from "./formats.ts";
import { type Child, Html, write } from "./html/jsx-runtime.ts";
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
        <Host language={language} destination={destination} />
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
    destination === undefined
      ? message(language, "password.open")
      : continueTo(language, splitHost(destination)[1]);
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
function continueTo(language: string, domain: string): Child {
  const piece = (
    <bdi dir="ltr" class={domain.length <= SHORT ? "piece" : undefined}>
      {domain}
    </bdi>
  );
  return richMessage(language, "preview.continue", { domain: piece });
}

export function leadsTo(language: string, leadsOn: boolean): string {
  return message(language, leadsOn ? "preview.leads" : "preview.led");
}

/** Longer addresses are folded, in characters. */
const LONG = 200;
/** Fits every line, also as a title. */
const NARROW = 12;
/** Does not fit a phone as a title. */
const WIDE = 13;
/** So much of a folded address is seen. */
const BEGINNING = /^.{100}/su;
const END = 40;
/** Of a character, in UTF-16 units. */
const WIDEST = 2;

/** The host of a destination. The registered part stands out, because its owner chooses the rest freely. */
export function Host({ language, destination }: { language: string; destination: Destination }) {
  const [front, domain] = splitHost(destination);
  const { port, asciiHost } = destination;
  return (
    <>
      <p class="host">
        <bdi dir="ltr">
          <Breaking text={front} />
          <strong class={domain.length > WIDE ? "wide" : undefined}>
            <Breaking text={domain} />
          </strong>
          {port !== "" && <span class="soft">:{port}</span>}
        </bdi>
      </p>
      {asciiHost !== undefined && (
        <p class="hint">
          {sentences(language, message(language, "preview.idn"), <bdi dir="ltr">{asciiHost}</bdi>)}
        </p>
      )}
    </>
  );
}

/** A whole address. A long one shows its beginning and its end until it is opened. */
export function FullAddress({ language, address }: { language: string; address: string }) {
  const whole = (
    <bdi dir="ltr">
      <Breaking text={address} />
    </bdi>
  );
  if (address.length <= LONG) return <p class="whole">{whole}</p>;
  const count = numberFormat(language).format(address.length);
  return (
    <>
      <p class="whole folded">
        <bdi dir="ltr">
          <Breaking text={BEGINNING.exec(address)?.[0] ?? ""} /> … {endOf(address)}
        </bdi>
      </p>
      <details class="whole">
        <summary>{message(language, "preview.whole", { count })}</summary>
        <p>{whole}</p>
      </details>
    </>
  );
}

/** A regular expression would look for it from the first character on. */
function endOf(address: string): string {
  return Array.from(address.slice(-WIDEST * END))
    .slice(-END)
    .join("");
}

/**
 * Breaks behind dots and slashes, and before the parts of a query; elsewhere only where a part is wider than its line. Browsers
 * would break behind hyphens, so parts with hyphens are elements. An address may have thousands of parts: they are marked in
 * its text, by characters that no address has, and become HTML at once.
 */
function Breaking({ text }: { text: string }): Html {
  if (text.length <= NARROW) return new Html(write(text));
  let marked = text.replace(/[./]+(?!$)/g, `$&${BREAK}`).replace(/[?&#]/g, `${BREAK}$&`);
  if (text.includes("-") && text.length <= LONG)
    marked = marked
      .split(BREAK)
      .map((part) => (part.includes("-") ? PART + part + PART_END : part))
      .join(BREAK);
  return new Html(
    write(marked).replaceAll(BREAK, "<wbr/>").replaceAll(PART, "<span>").replaceAll(PART_END, "</span>"),
  );
}

const [BREAK, PART, PART_END] = ["\u{0}", "\u{1}", "\u{2}"];
