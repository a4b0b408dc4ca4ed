/** @jsxImportSource ./html */
import { message } from "../language/messages.ts";

interface QrCodeProps {
  readonly language: string;
  /** Of the link, without a slash at its end. */
  readonly path: string;
  /** The short address, as it is shown. */
  readonly address: string;
}

/** A link's QR code, to scan or to save. */
export function QrCode({ language, path, address }: QrCodeProps) {
  return (
    <figure class="qr">
      <img src={`${path}.svg`} width="160" height="160" alt={message(language, "preview.qr", { address })} />
      <figcaption>
        {message(language, "preview.qr.save")}
        <a href={`${path}.png?size=1024`} download>
          PNG
        </a>
        <a href={`${path}.svg`} download>
          SVG
        </a>
      </figcaption>
    </figure>
  );
}
