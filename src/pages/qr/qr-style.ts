// How a QR code is drawn, and whether scanners can read it. The browser script uses this file as well.
import { MIN_CONTRAST, type QrStyle } from "../../api/qr-bounds.ts";
import { contrast, luminance } from "../../lib/contrast.ts";

/** With less, some scanners take large dark modules for light ones. */
const GOOD_CONTRAST = 4.5;
/** ISO/IEC 15415: with less, the symbol contrast of a printed code is of the two lowest grades. */
const GOOD_REFLECTANCE_DIFFERENCE = 0.4;
/** ISO/IEC 18004: the width of the quiet zone, in modules. */
const QUIET_ZONE = 4;
/** Cameras and printers blur. */
const MIN_MODULE_PIXELS = 3;

/** A statement about a code: about its colours or its size. */
export type Word = "enough" | "weak" | "low" | "inverted" | "size";

export interface Verdict {
  readonly words: readonly Word[];
  /** The contrast of both colours, whichever is darker. Rounded down to one decimal, so that too little never looks like enough. */
  readonly contrast: number;
  readonly isRefused: boolean;
  /** The smallest readable size, in pixels. */
  readonly minSize: number;
}

/** `modules` is the width of the code without its margin. */
export function judge({ dark, light, margin, size }: Omit<QrStyle, "ecc">, modules: number): Verdict {
  const ratio = contrast(dark, light);
  const colours = Math.max(ratio, 1 / ratio);
  const minSize = (modules + 2 * margin) * MIN_MODULE_PIXELS;
  const words: Word[] = [];
  if (colours < MIN_CONTRAST) words.push("low");
  else if (ratio < 1) words.push("inverted");
  else words.push(isWeak(dark, light) ? "weak" : "enough");
  const isRefused = ratio < MIN_CONTRAST;
  if (size < minSize) words.push("size");
  return { words, contrast: Math.floor(colours * 10) / 10, isRefused, minSize };
}

function isWeak(dark: string, light: string): boolean {
  return (
    contrast(dark, light) < GOOD_CONTRAST || luminance(light) - luminance(dark) < GOOD_REFLECTANCE_DIFFERENCE
  );
}

/**
 * The width of a module in a code of about `width` CSS pixels, always with the whole quiet zone. A whole number for sharp
 * edges, and enough for a camera.
 */
export function moduleWidth(modules: number, margin: number, width: number): number {
  return Math.max(MIN_MODULE_PIXELS, Math.floor(width / widthWithQuietZone(modules, margin)));
}

/** In modules. */
export function widthWithQuietZone(modules: number, margin: number): number {
  return modules + 2 * Math.max(margin, QUIET_ZONE);
}
