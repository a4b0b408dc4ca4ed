/** @jsxImportSource ../shared/html */
import { type ErrorCorrection, type QrStyle } from "../../api/qr-bounds.ts";
import { memoize } from "../../lib/memoize.ts";
import { message, sentenceSpace } from "../../locales/messages.ts";
import { type Destination, splitHost } from "../shared/destination-parts.ts";
import { destinationLabel } from "../shared/destination.tsx";
import type { Html } from "../shared/html/jsx-runtime.ts";
import { ShortAddress, withoutScheme } from "../shared/ticket.tsx";
import { modulesOf, pathDataOf, drawPng, drawSvg } from "./qr-matrix.ts";
import { moduleWidth, widthWithQuietZone } from "./qr-style.ts";

/** In CSS pixels, unless the modules would be too small for a camera. */
const WIDTH = 148;

interface QrImageProps {
  readonly language: string;
  /** The link's path, without a slash at its end. */
  readonly path: string;
  readonly shortUrl: string;
}

/** A link's QR code on its ticket, to scan or to open on a page of its own. Phones don't load it. */
export function QrImage({ language, path, shortUrl }: QrImageProps) {
  const { size, ecc } = fitQr(shortUrl);
  return (
    <a class="picture" href={qrPath(path)} rel="nofollow">
      <img
        {...{ src: `${path}.svg?size=${size}&ecc=${ecc}`, width: size, height: size, loading: "lazy" }}
        alt={message(language, "preview.qr", { address: withoutScheme(shortUrl) })}
      />
    </a>
  );
}

/** The address of a link's QR page. No code has a +. */
export function qrPath(path: string): string {
  return `${path}+qr`;
}

export interface SheetProps extends Omit<QrImageProps, "path"> {
  /** Undefined if it is secret, behind the link's password. */
  readonly destination: Destination | undefined;
  readonly children: readonly (Html | string)[] | Html;
}

/** The printed part of a page: the picture, the address above it and the destination below it. */
export function Sheet({ language, shortUrl, destination, children }: SheetProps) {
  const address = withoutScheme(shortUrl);
  const [front, domain] = destination === undefined ? [] : splitHost(destination);
  return (
    <figure class="qr sheet">
      <p class={address.length > LONG ? "printed long" : "printed"}>
        <ShortAddress url={shortUrl} />
      </p>
      {children}
      {domain !== undefined && (
        <p class="printed leads">
          {destinationLabel(language, true)}:{" "}
          <bdi dir="ltr">
            {front}
            <strong>{domain}</strong>
          </bdi>
        </p>
      )}
    </figure>
  );
}

/** In characters; more don't fit two lines in the largest type. */
const LONG = 32;

interface Fit {
  readonly ecc: ErrorCorrection;
  /** In CSS pixels. */
  readonly size: number;
}

/** Screens aren't scratched, so a long code has less error correction and larger modules. */
const fitQr = memoize((shortUrl): Fit => {
  const robust: Fit = { ecc: "q", size: sizeOf(shortUrl, "q") };
  return robust.size <= WIDTH ? robust : { ecc: "l", size: sizeOf(shortUrl, "l") };
});

function sizeOf(shortUrl: string, ecc: ErrorCorrection): number {
  const { length } = modulesOf(shortUrl, ecc);
  return widthWithQuietZone(length, 0) * moduleWidth(length, 0, WIDTH);
}

/** ISO/IEC 18004 requires a margin of four modules. */
const BLACK_ON_WHITE = { margin: 4, dark: "000000", light: "ffffff" } as const;
/** The size of the files, in pixels. */
const SAVED = 1024;

/** The QR code of a link before its start. The page contains it, because its own address answers 404 until then. */
export function InlineQrSheet({ language, shortUrl, destination }: Omit<SheetProps, "children">) {
  const label = message(language, "preview.qr", { address: withoutScheme(shortUrl) });
  const { ecc } = fitQr(shortUrl);
  const saved = { ...BLACK_ON_WHITE, ecc, size: SAVED };
  return (
    <Sheet language={language} shortUrl={shortUrl} destination={destination}>
      <div class="picture">
        <InlineQr shortUrl={shortUrl} style={{ ...BLACK_ON_WHITE, ecc }} label={label} width={WIDTH} />
      </div>
      <figcaption>
        {message(language, "preview.qr.save")}
        {sentenceSpace(language)}
        <a href={asData("image/png", drawPng(shortUrl, saved))} download={fileName(shortUrl, "png")}>
          PNG
        </a>{" "}
        <a href={asData("image/svg+xml", drawSvg(shortUrl, saved))} download={fileName(shortUrl, "svg")}>
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
  const code = shortUrl.split("/").at(-1) ?? "qr";
  return `${decodeURIComponent(code)}.${extension}`;
}

interface InlineQrProps {
  /** In Unicode or ASCII. */
  readonly shortUrl: string;
  readonly style: Omit<QrStyle, "size">;
  readonly label: string;
  /** In CSS pixels, about. The code is larger if a camera couldn't read its modules. */
  readonly width: number;
}

/** A QR code inside a page, which needs no request and which a script can restyle. */
export function InlineQr({ shortUrl, style, label, width }: InlineQrProps) {
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
      <path stroke={`#${dark}`} d={pathDataOf(modules)} />
    </svg>
  );
}
