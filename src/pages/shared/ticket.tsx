/** @jsxImportSource ./html */
import { message } from "../../locales/messages.ts";
import type { Child } from "./html/jsx-runtime.ts";

interface TicketProps {
  /** Torn: the link no longer redirects. Blank: there is no link. */
  readonly state?: "torn" | "blank" | undefined;
  /** The short address, and what can be done with it. */
  readonly stub: Child;
  /** At the end of the stub. */
  readonly picture?: Child;
  /** The destination. */
  readonly children?: Child;
  /** Below the body: what to decide. */
  readonly foot?: Child;
}

/** A link, drawn as a ticket: the stub has its short address, the body its destination. */
export function Ticket({ state, stub, picture, children, foot }: TicketProps) {
  return (
    <div class={state === undefined ? "ticket" : `ticket ${state}`}>
      <div class="stub">
        <div>{stub}</div>
        {picture}
      </div>
      {children !== undefined && <div class="body">{children}</div>}
      {foot !== undefined && <div class="body foot">{foot}</div>}
    </div>
  );
}

interface ShortAddressProps {
  /** The short address as people see it. */
  readonly url: string;
}

/** A short address without its scheme. It may break before its code, which is marked. */
export function ShortAddress({ url }: ShortAddressProps) {
  const address = withoutScheme(url);
  const start = address.lastIndexOf("/") + 1;
  return <MarkedAddress base={address.slice(0, start)} code={address.slice(start)} />;
}

/** The widest code that fits a line of the largest type, in columns of a terminal. */
const LONG = 18;

interface TicketAddressProps {
  readonly baseUrl: string;
  readonly code: string;
  /** Where it leads, if it is a link. */
  readonly href?: string;
  /** A code of the same length. Only the characters that differ from it are marked. */
  readonly unlike?: string | undefined;
}

/** An address of a ticket that isn't the page's title, and may be no link's. */
export function TicketAddress({ baseUrl, code, href, unlike }: TicketAddressProps) {
  const base = `${withoutScheme(baseUrl)}/`;
  const address = <MarkedAddress base={base} code={code} unlike={unlike} />;
  return (
    <div class="address">
      <p>
        {href === undefined ? (
          address
        ) : (
          <a href={href} rel="nofollow" aria-label={base + code}>
            {address}
          </a>
        )}
      </p>
    </div>
  );
}

/** What has it as its name needs a label, which has no space before the code. */
function MarkedAddress({ base, code, unlike }: { base: string; code: string; unlike?: string | undefined }) {
  const others = unlike === undefined ? undefined : Array.from(unlike);
  return (
    <bdi class={Bun.stringWidth(code) > LONG ? "short long" : "short"} dir="ltr">
      <span>{base}</span>
      <wbr />
      {code !== "" &&
        (others === undefined ? (
          <mark>
            <bdi>{code}</bdi>
          </mark>
        ) : (
          <bdi>{Array.from(code, (one, nth) => (one === others[nth] ? one : <mark>{one}</mark>))}</bdi>
        ))}
    </bdi>
  );
}

interface AddressProps extends ShortAddressProps {
  readonly language: string;
  /** Whether it is the page's title. */
  readonly isTitle?: boolean;
  /** The path of the preview, unless the reader is not to open it. */
  readonly preview?: string | undefined;
}

/** The short address of a ticket. The + after it opens the preview, and so shows how any link is looked up. */
export function Address({ language, url, isTitle = true, preview }: AddressProps) {
  const address = <ShortAddress url={url} />;
  return (
    <div class="address">
      {isTitle ? <h1 aria-label={withoutScheme(url)}>{address}</h1> : <p>{address}</p>}
      {preview !== undefined && (
        <>
          {" "}
          <a class="plus" href={preview} rel="nofollow" {...plusLabels(language)}>
            +
          </a>
        </>
      )}
    </div>
  );
}

function plusLabels(language: string) {
  const label = message(language, "ticket.plus");
  return { title: label, "aria-label": label };
}

export function withoutScheme(url: string): string {
  return url.replace(/^https?:\/\//, "");
}
