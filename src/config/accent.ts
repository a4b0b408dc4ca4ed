import { contrast } from "../lib/contrast.ts";
import type { Format } from "./formats.ts";

/** A colour for light mode and one for dark mode, as # and six hexadecimal digits. */
interface Accent {
  readonly light: string;
  readonly dark: string;
}

/** WCAG 2.2, section 1.4.3 (level AA): what text needs. */
const MIN_CONTRAST = 4.5;

interface Mode {
  readonly name: string;
  /** Of what lies behind the accent on our pages, the colour that it differs least from. */
  readonly page: string;
  /** Of text on the accent. */
  readonly text: string;
  /** What makes a colour more readable. */
  readonly towards: string;
}

const LIGHT: Mode = { name: "light", page: "#fbfaf7", text: "#ffffff", towards: "#000000" };
const DARK: Mode = { name: "dark", page: "#201f1c", text: "#08130f", towards: "#ffffff" };

/** The colour of buttons and links. If there is only one for light mode, the other is made from it. */
export const accent: Format<Accent> = {
  right:
    "a colour such as #0b6e4f, or one for light and one for dark mode such as #0b6e4f,#5cc9a1, readable on the page",
  parse(text) {
    const [light, dark] = coloursOf(text) ?? [];
    if (light === undefined || isHardToRead(light, LIGHT)) return undefined;
    if (dark !== undefined && isHardToRead(dark, DARK)) return undefined;
    return { light, dark: dark ?? readable(light, DARK) };
  },
  reason(text) {
    const colours = coloursOf(text) ?? [];
    const faults = [LIGHT, DARK].flatMap((mode, nth) => {
      const colour = colours[nth];
      return colour === undefined || !isHardToRead(colour, mode) ? [] : [tell(colour, mode)];
    });
    return faults.length === 0 ? undefined : faults.join("; ");
  },
};

function coloursOf(text: string): string[] | undefined {
  const colours = text.split(",").map((colour) => colour.trim().toLowerCase());
  return colours.length <= 2 && colours.every((colour) => /^#[\da-f]{6}$/.test(colour)) ? colours : undefined;
}

/** How well it is told from the page, or text on it from itself, whatever is worse. */
function contrastIn(colour: string, { page, text }: Mode): number {
  return Math.min(...[page, text].map((other) => Math.max(contrast(colour, other), contrast(other, colour))));
}

function isHardToRead(colour: string, mode: Mode): boolean {
  return contrastIn(colour, mode) < MIN_CONTRAST;
}

function tell(colour: string, mode: Mode): string {
  const found = Math.floor(contrastIn(colour, mode) * 10) / 10;
  return `in ${mode.name} mode, the contrast of ${colour} is ${found}, and text needs ${MIN_CONTRAST}; ${readable(colour, mode)} would do`;
}

/** The nearest colour that can be read, between this one and black or white. */
function readable(colour: string, mode: Mode): string {
  const steps = 100;
  for (let step = 0; step < steps; step++) {
    const mixed = mix(colour, mode.towards, step / steps);
    if (!isHardToRead(mixed, mode)) return mixed;
  }
  return mode.towards;
}

function mix(from: string, to: string, share: number): string {
  const [start, end] = [from, to].map((colour) => Buffer.from(colour.slice(1), "hex"));
  const mixed = start?.map((value, nth) => Math.round(value + ((end?.[nth] ?? 0) - value) * share));
  return `#${Buffer.from(mixed ?? []).toString("hex")}`;
}
