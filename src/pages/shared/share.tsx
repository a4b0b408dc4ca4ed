/** @jsxImportSource ./html */
import { message } from "../../locales/messages.ts";
import { CopyButton } from "./copy-button.tsx";

interface AddressProps {
  /** Without its scheme. */
  readonly url: string;
  /** Whether it is what the page is about. For a visitor, that is where it leads. */
  readonly isTitle?: boolean;
}

/** The short address. It may break behind its host. */
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

/** Copies or shares the short address, also in ASCII where that differs. */
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
