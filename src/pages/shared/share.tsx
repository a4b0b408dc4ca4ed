/** @jsxImportSource ./html */
import { message, type MessageKey } from "../../locales/messages.ts";
import type { Child } from "./html/jsx-runtime.ts";

interface CopyButtonProps {
  readonly language: string;
  readonly kind: "primary" | "secondary" | "plain";
  readonly label?: MessageKey;
  /** Default: the text of the element before the button. */
  readonly text?: string;
  /** More buttons next to this one. */
  readonly children?: Child;
}

/** Hidden until the script shows it. The output follows all buttons, so that they don't move when it appears. */
export function CopyButton({ language, kind, label = "copy", text = "", children }: CopyButtonProps) {
  const answers = {
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

interface AddressProps {
  /** Without its scheme. */
  readonly url: string;
  /** Whether it is the page's title. For visitors, the destination is. */
  readonly isTitle?: boolean;
}

/** The short address. It may break after its host. */
export function Address({ url, isTitle = false }: AddressProps) {
  const [host, ...path] = url.split(/(?<=\/)/);
  return (
    <h1 class={isTitle ? "address title" : "address"}>
      <bdi dir="ltr">
        {host}
        <wbr />
        {path.join("")}
      </bdi>
    </h1>
  );
}

interface CopyAddressProps {
  readonly language: string;
  readonly kind: "primary" | "secondary";
  readonly shortUrl: string;
}

/** Buttons that copy or share the short address, in Unicode and in ASCII. */
export function CopyAddress({ language, kind, shortUrl }: CopyAddressProps) {
  const { href: ascii } = new URL(shortUrl);
  return (
    <>
      <div class="actions">
        <CopyButton language={language} kind={kind} text={shortUrl}>
          <button type="button" data-share={shortUrl} hidden>
            {message(language, "share")}
          </button>
        </CopyButton>
      </div>
      {ascii !== shortUrl && (
        <details>
          <summary>{message(language, "preview.ascii")}</summary>
          <p class="whole">
            <bdi dir="ltr">{ascii}</bdi> <CopyButton language={language} kind="plain" text={ascii} />
          </p>
        </details>
      )}
    </>
  );
}
