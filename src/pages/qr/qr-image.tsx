/** @jsxImportSource ../shared/html */
import { message, sentenceSpace } from "../../locales/messages.ts";
import { fitQr, Sheet, type SheetProps, WIDTH, withoutScheme } from "./qr-code.tsx";
import { QrDrawing } from "./qr-drawing.tsx";
import { qrPng, qrSvg } from "./qr-matrix.ts";

/** ISO/IEC 18004 requires a margin of four modules. */
const BLACK_ON_WHITE = { margin: 4, dark: "000000", light: "ffffff" } as const;
/** Of the files, in pixels. */
const SAVED = 1024;

/** The QR code of a link that has not begun. Its own address gives none until then, so the page holds it. */
export function QrDrawn({ language, shortUrl, destination }: Omit<SheetProps, "children">) {
  const label = message(language, "preview.qr", { address: withoutScheme(shortUrl) });
  const { ecc } = fitQr(shortUrl);
  const saved = { ...BLACK_ON_WHITE, ecc, size: SAVED };
  return (
    <Sheet language={language} shortUrl={shortUrl} destination={destination}>
      <div class="picture">
        <QrDrawing shortUrl={shortUrl} style={{ ...BLACK_ON_WHITE, ecc }} label={label} width={WIDTH} />
      </div>
      <figcaption>
        {message(language, "preview.qr.save")}
        {sentenceSpace(language)}
        <a href={asData("image/png", qrPng(shortUrl, saved))} download={fileName(shortUrl, "png")}>
          PNG
        </a>{" "}
        <a href={asData("image/svg+xml", qrSvg(shortUrl, saved))} download={fileName(shortUrl, "svg")}>
          SVG
        </a>
      </figcaption>
    </Sheet>
  );
}

function asData(type: string, content: string | Uint8Array): string {
  return `data:${type};base64,${Buffer.from(content).toString("base64")}`;
}

function fileName(shortUrl: string, extension: string): string {
  const code = shortUrl.split("/").at(-2) ?? "qr";
  return `${decodeURIComponent(code)}.${extension}`;
}
