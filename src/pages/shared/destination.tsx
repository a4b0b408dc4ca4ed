/** @jsxImportSource ./html */
import { message } from "../../locales/messages.ts";
import { describeDestination, type Destination, domainInAscii, splitHost } from "./destination-parts.ts";
import { type Child, Html, write } from "./html/jsx-runtime.ts";
import { numberFormat, richMessage, sentences } from "./in-words.ts";
import { type LinkNotes, NoteList, notesOf } from "./warnings.tsx";

interface DestinationCardProps extends LinkNotes {
  readonly language: string;
  /** Undefined if it is secret, behind the link's password. */
  readonly destination: Destination | undefined;
  /** Whether the link has ended or is blocked. */
  readonly isOver: boolean;
  /** The address of the button, if there is one. */
  readonly href: string | undefined;
  /** Set if the button sends a form. It goes to the page's own address, because the link may pass its query on. */
  readonly method?: "post" | undefined;
  /** Tells a form from others, so that it counts once. */
  readonly form?: string | undefined;
  readonly showsAddress: boolean;
  /** Whether the destination is what the page is about. */
  readonly isFirst: boolean;
  /** More buttons. */
  readonly children?: Child;
}

/** A link's destination, its warnings, and the button that opens it, for the body of a ticket. */
export function DestinationCard(props: DestinationCardProps) {
  const { language, destination, isOver, href, showsAddress, isFirst, children } = props;
  const { warnings, notes } = notesOf(language, props, destination);
  const isPrimary = isFirst && warnings.length === 0;
  const button = href !== undefined && (
    <ContinueButton {...props} href={href} kind={isPrimary ? "button primary" : "button"} />
  );
  return (
    <section class={isOver || !isFirst ? "leads over" : "leads"} aria-labelledby="leads">
      <h2 id="leads" class={isOver ? undefined : "unseen"}>
        {destinationLabel(language, !isOver)}
      </h2>
      {warnings.length > 0 && (
        <div class="warnings">
          <p>{message(language, "preview.check")}</p>
          <ul>
            {warnings.map((warning) => (
              <li>{warning}</li>
            ))}
          </ul>
        </div>
      )}
      {destination === undefined ? (
        <p>{message(language, "preview.secret")}</p>
      ) : (
        <Host language={language} destination={destination} />
      )}
      {destination !== undefined && showsAddress && (
        <FullAddress language={language} address={destination.address} />
      )}
      <NoteList kind="hints" notes={notes} />
      {(href !== undefined || children !== undefined) && (
        // If the destination is risky, reporting comes first.
        <div class={isPrimary ? "actions" : "actions turned"}>
          {button} {children}
        </div>
      )}
    </section>
  );
}

type ContinueButtonProps = Pick<DestinationCardProps, "language" | "destination" | "method" | "form"> & {
  readonly href: string;
  readonly kind: string;
};

function ContinueButton({ language, destination, method, form, href, kind }: ContinueButtonProps) {
  const text =
    destination === undefined
      ? message(language, "password.open")
      : continueTo(language, domainInAscii(destination));
  if (method !== undefined)
    return (
      <form method={method}>
        {form !== undefined && <input type="hidden" name="form" value={form} />}
        <button class={kind}>{text}</button>
      </form>
    );
  return (
    <a class={kind} href={href} rel="nofollow noreferrer">
      {text}
    </a>
  );
}

/** A name stays in one piece where there is room. */
function continueTo(language: string, domain: string): Child {
  const piece = (
    <bdi dir="ltr" class="piece">
      {domain}
    </bdi>
  );
  return richMessage(language, "preview.continue", { domain: piece });
}

export function destinationLabel(language: string, works: boolean): string {
  return message(language, works ? "preview.leads" : "preview.led");
}

/** In characters. Longer addresses fold. */
const LONG = 200;
/** Fits every line, even as a title. */
const NARROW = 12;
/** Doesn't fit a phone as a title. */
const WIDE = 13;
/** The visible start and end of a folded address. */
const BEGINNING = /^.{100}/su;
const END = 40;
/** In UTF-16 units per character. */
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

/** A host in a line, with its ASCII form. Letters that could deceive come second. */
export function HostName({ host: ascii }: { host: string }) {
  const { host, asciiHost, letters } = describeDestination(`https://${ascii}/`);
  const other = asciiHost ?? letters;
  return (
    <bdi dir="ltr">
      {host}
      {other !== undefined && [" ", <span class="soft">{other}</span>]}
    </bdi>
  );
}

/** A whole address. A long one shows its start and its end until it is opened. */
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

/** A regular expression would search from the first character. */
function endOf(address: string): string {
  return Array.from(address.slice(-WIDEST * END))
    .slice(-END)
    .join("");
}

/** The start of an address whose host fits a line of a phone. */
const SHORT_START = /^https?:\/\/[^/?#]{1,26}(?:\/|$)/;

/**
 * Breaks after a short host, after dots and slashes, before the parts of a query, and inside parts that are wider than a line.
 * Browsers break after hyphens, so parts with hyphens are elements. An address may have thousands of parts, so its text is
 * marked with characters that no address has, and becomes HTML in one step.
 */
function Breaking({ text }: { text: string }): Html {
  if (text.length <= NARROW) return new Html(write(text));
  const [start = ""] = SHORT_START.exec(text) ?? [];
  const rest = text.slice(start.length);
  let withBreaks = rest.replace(/[./]+(?!$)/g, `$&${BREAK}`).replace(/[?&#]/g, `${BREAK}$&`);
  if (rest.includes("-") && text.length <= LONG)
    withBreaks = withBreaks
      .split(BREAK)
      .map((part) => (part.includes("-") ? PART + part + PART_END : part))
      .join(BREAK);
  if (start !== "") withBreaks = PART + start + PART_END + BREAK + withBreaks;
  return new Html(
    write(withBreaks).replaceAll(BREAK, "<wbr/>").replaceAll(PART, "<span>").replaceAll(PART_END, "</span>"),
  );
}

const [BREAK, PART, PART_END] = ["\u{0}", "\u{1}", "\u{2}"];
