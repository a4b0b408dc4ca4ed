/** @jsxImportSource ./html */
import { message, type MessageKey } from "../../locales/messages.ts";
import type { Child } from "./html/jsx-runtime.ts";

interface CopyButtonProps {
  readonly language: string;
  readonly kind: "primary" | "secondary" | "quiet";
  readonly label?: MessageKey;
  /** Default: the text of the element before the button. */
  readonly text?: string;
  /** A key that presses it, on a page that handles keys. */
  readonly shortcut?: string;
  /** More buttons next to this one. */
  readonly children?: Child;
}

/** Hidden until the script shows it. The output follows all buttons, so that they don't move when it appears. */
export function CopyButton(props: CopyButtonProps) {
  const { language, kind, label = "copy", text = "", shortcut, children } = props;
  const answers = {
    "aria-keyshortcuts": shortcut,
    "data-done": message(language, "copied"),
    "data-failed": message(language, "copy.failed"),
  };
  return (
    <>
      <button type="button" class={kind} data-copy={text} {...answers} hidden>
        {message(language, label)}
      </button>
      {children} <output></output>
    </>
  );
}

interface CopyAddressProps {
  readonly language: string;
  readonly kind: "primary" | "secondary";
  readonly shortUrl: string;
  /** More buttons. */
  readonly children?: Child;
}

/** Buttons that copy or share the short address. */
export function CopyAddress({ language, kind, shortUrl, children }: CopyAddressProps) {
  return (
    <div class="actions">
      <CopyButton language={language} kind={kind} text={shortUrl}>
        <button type="button" data-share={shortUrl} hidden>
          {message(language, "share")}
        </button>
        {children}
      </CopyButton>
    </div>
  );
}

/** The short address in ASCII, if it differs, to copy. */
export function AsciiAddress({ language, shortUrl }: Pick<CopyAddressProps, "language" | "shortUrl">) {
  const { href: ascii } = new URL(shortUrl);
  if (ascii === shortUrl) return null;
  return (
    <details class="hint">
      <summary>{message(language, "preview.ascii")}</summary>
      <p class="whole">
        <bdi dir="ltr">{ascii}</bdi> <CopyButton language={language} kind="quiet" text={ascii} />
      </p>
    </details>
  );
}
