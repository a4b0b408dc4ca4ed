/** @jsxImportSource ../shared/html */
import { memoize } from "../../lib/memoize.ts";
import { message, sentenceSpace } from "../../locales/messages.ts";
import { type Destination, splitHost } from "../shared/destination-parts.ts";
import { leadsTo } from "../shared/destination.tsx";
import type { Html } from "../shared/html/jsx-runtime.ts";
import { modulesOf, pathOf, qrPng, qrSvg } from "./qr-matrix.ts";
import { type ErrorCorrection, moduleWidth, type QrStyle, widthWithQuietZone } from "./qr-style.ts";

/** In CSS pixels, unless the modules would be too small for a camera. */
const WIDTH = 192;

interface QrCodeProps {
  readonly language: string;
  /** Of the link, without a slash at its end. */
  readonly path: string;
  /** The short address, in readable Unicode. */
  readonly shortUrl: string;
  /** Undefined if only those who know the password are told. */
  readonly destination: Destination | undefined;
}

/** A link's QR code, to scan or to save, and to print with its address. */
export function QrCode({ language, path, shortUrl, destination }: QrCodeProps) {
  const label = message(language, "preview.qr", { address: withoutScheme(shortUrl) });
  const { size, ecc } = fitQr(shortUrl);
  return (
    <Sheet language={language} shortUrl={shortUrl} destination={destination}>
      <a class="picture" href={qrPath(path)} rel="nofollow">
        <img {...{ src: `${path}.svg?size=${size}&ecc=${ecc}`, width: size, height: size }} alt={label} />
      </a>
      <figcaption>
        {message(language, "preview.qr.save")}
        {sentenceSpace(language)}
        <a href={`${path}.png?size=1024`} download>
          PNG
        </a>{" "}
        <a href={`${path}.svg`} download>
          SVG
        </a>
        <br />
        <a href={qrPath(path)} rel="nofollow">
          {message(language, "qr.more")}
        </a>
      </figcaption>
    </Sheet>
  );
}

/** Where a link's QR code is shown large and can be styled. No code has a +. */
export function qrPath(path: string): string {
  return `${path}+qr`;
}

export interface SheetProps extends Omit<QrCodeProps, "path"> {
  readonly children: readonly (Html | string)[] | Html;
}

/** Its picture is all that is printed of a page, with the address above it and where that leads below it. */
export function Sheet({ language, shortUrl, destination, children }: SheetProps) {
  const address = withoutScheme(shortUrl);
  const [front, domain] = destination === undefined ? [] : splitHost(destination);
  return (
    <figure class="qr sheet">
      <p class={address.length > LONG ? "printed long" : "printed"}>
        <bdi dir="ltr">{address}</bdi>
      </p>
      {children}
      {domain !== undefined && (
        <p class="printed leads">
          {leadsTo(language, true)}:{" "}
          <bdi dir="ltr">
            {front}
            <strong>{domain}</strong>
          </bdi>
        </p>
      )}
    </figure>
  );
}

/** In characters: more do not fit two lines in the largest type. */
const LONG = 32;

interface Fit {
  readonly ecc: ErrorCorrection;
  /** In CSS pixels. */
  readonly size: number;
}

/** Screens are not scratched, so a long code is shown with fewer and larger modules. */
const fitQr = memoize((shortUrl): Fit => {
  const robust: Fit = { ecc: "q", size: sizeOf(shortUrl, "q") };
  return robust.size <= WIDTH ? robust : { ecc: "l", size: sizeOf(shortUrl, "l") };
});

function sizeOf(shortUrl: string, ecc: ErrorCorrection): number {
  const { length } = modulesOf(shortUrl, ecc);
  return widthWithQuietZone(length, 0) * moduleWidth(length, 0, WIDTH);
}

export function withoutScheme(url: string): string {
  return url.replace(/^https?:\/\//, "");
}

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

interface QrDrawingProps {
  /** The short address, in Unicode or ASCII. */
  readonly shortUrl: string;
  readonly style: Omit<QrStyle, "size">;
  readonly label: string;
  /** In CSS pixels, about. It is made larger if the modules would be too small for a camera. */
  readonly width: number;
}

/** A QR code inside a page, which needs no request and can be restyled by a script. */
export function QrDrawing({ shortUrl, style, label, width }: QrDrawingProps) {
  const { margin, dark, light, ecc } = style;
  const modules = modulesOf(shortUrl, ecc);
  const across = modules.length + 2 * margin;
  const pixels = across * moduleWidth(modules.length, margin, width);
  return (
    <svg
      {...{
        role: "img",
        "aria-label": label,
        "shape-rendering": "crispEdges",
        "data-modules": modules.length,
      }}
      data-width={width}
      {...{ width: pixels, height: pixels, viewBox: `${-margin} ${-margin} ${across} ${across}` }}
    >
      <rect {...{ x: -margin, y: -margin, width: across, height: across, fill: `#${light}` }} />
      <path stroke={`#${dark}`} d={pathOf(modules)} />
    </svg>
  );
}
