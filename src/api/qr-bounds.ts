/** The part of a code that may be damaged (ISO/IEC 18004): about 7, 15, 25 and 30 percent. */
export const ERROR_CORRECTIONS = ["l", "m", "q", "h"] as const;

export type ErrorCorrection = (typeof ERROR_CORRECTIONS)[number];

/** In pixels. */
export const SIZES = { min: 64, max: 2048 } as const;

/** In modules. */
export const MARGINS = { min: 0, max: 16 } as const;

export interface QrStyle {
  /** In pixels. The image is larger if the code needs more, at one pixel per module. */
  readonly size: number;
  /** The light border, in modules. */
  readonly margin: number;
  /** Colours as six hexadecimal digits. */
  readonly dark: string;
  readonly light: string;
  readonly ecc: ErrorCorrection;
}

/** WCAG 2.2, section 1.4.11: minimum contrast of graphics. */
export const MIN_CONTRAST = 3;
