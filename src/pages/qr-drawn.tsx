/** @jsxImportSource ./html */
import { message } from "../language/messages.ts";
import { Html } from "./html/jsx-runtime.ts";
import { qrPng, qrSvg } from "./qr.ts";

/** In pixels. */
const SHOWN = 192;
const SAVED = 1024;
/** ISO/IEC 18004 requires a margin of four modules. */
const STYLE = { margin: 4, dark: "000000", light: "ffffff" } as const;

interface QrDrawnProps {
  readonly language: string;
  /** In readable Unicode. */
  readonly shortUrl: string;
}

/** The QR code of a link that has not begun. Its own address gives none until then, so the page holds it. */
export function QrDrawn({ language, shortUrl }: QrDrawnProps) {
  const saved = { ...STYLE, size: SAVED };
  return (
    <figure class="qr">
      {new Html(qrSvg(shortUrl, { ...STYLE, size: SHOWN }))}
      <figcaption>
        {message(language, "preview.qr.save")}
        <a href={asData("image/png", qrPng(shortUrl, saved))} download={fileName(shortUrl, "png")}>
          PNG
        </a>
        <a href={asData("image/svg+xml", qrSvg(shortUrl, saved))} download={fileName(shortUrl, "svg")}>
          SVG
        </a>
      </figcaption>
    </figure>
  );
}

function asData(type: string, content: string | Uint8Array): string {
  return `data:${type};base64,${Buffer.from(content).toString("base64")}`;
}

function fileName(shortUrl: string, extension: string): string {
  const code = shortUrl.split("/").at(-2) ?? "qr";
  return `${decodeURIComponent(code)}.${extension}`;
}
