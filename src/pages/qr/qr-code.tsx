/** @jsxImportSource ../shared/html */
import { memoize } from "../../lib/memoize.ts";
import { message, sentenceSpace } from "../../locales/messages.ts";
import { type Destination, splitHost } from "../shared/destination-parts.ts";
import { leadsTo } from "../shared/destination.tsx";
import type { Html } from "../shared/html/jsx-runtime.ts";
import { modulesOf } from "./qr-matrix.ts";
import { type ErrorCorrection, moduleWidth, widthWithQuietZone } from "./qr-style.ts";

/** In CSS pixels, unless the modules would be too small for a camera. */
export const WIDTH = 192;

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
export const fitQr = memoize((shortUrl): Fit => {
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
