import { readFileSync, statSync } from "node:fs";

import { contrast } from "../lib/contrast.ts";
import { contact, homeUrl, listOf, words, type Setting, type Format } from "./setting-formats.ts";

/** A colour for light mode and one for dark mode, as # and six hexadecimal digits. */
interface Accent {
  readonly light: string;
  readonly dark: string;
}

/** For text, by WCAG 2.2, section 1.4.3 (level AA). */
const MIN_CONTRAST = 4.5;

interface Mode {
  readonly name: string;
  /** The background on our pages with the least contrast to most accents. */
  readonly page: string;
  /** Colour of text on the accent. */
  readonly text: string;
  /** Mixing with this colour makes an accent more readable. */
  readonly towards: string;
}

const LIGHT: Mode = { name: "light", page: "#fbfaf7", text: "#ffffff", towards: "#000000" };
const DARK: Mode = { name: "dark", page: "#201f1c", text: "#08130f", towards: "#ffffff" };

/** The colour of buttons and links. Without one for dark mode, it is derived from the one for light mode. */
const accent: Format<Accent> = {
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
      return colour === undefined || !isHardToRead(colour, mode) ? [] : [describeFault(colour, mode)];
    });
    return faults.length === 0 ? undefined : faults.join("; ");
  },
};

function coloursOf(text: string): string[] | undefined {
  const colours = text.split(",").map((colour) => colour.trim().toLowerCase());
  return colours.length <= 2 && colours.every((colour) => /^#[\da-f]{6}$/.test(colour)) ? colours : undefined;
}

/** The contrast with the page or of text on the colour, whichever is lower. */
function contrastIn(colour: string, { page, text }: Mode): number {
  return Math.min(...[page, text].map((other) => Math.max(contrast(colour, other), contrast(other, colour))));
}

function isHardToRead(colour: string, mode: Mode): boolean {
  return contrastIn(colour, mode) < MIN_CONTRAST;
}

function describeFault(colour: string, mode: Mode): string {
  const ratio = Math.floor(contrastIn(colour, mode) * 10) / 10;
  return `in ${mode.name} mode, the contrast of ${colour} is ${ratio}, and text needs ${MIN_CONTRAST}; ${readable(colour, mode)} would do`;
}

/** The nearest readable colour between this one and black or white. */
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

/** A square picture, as it is sent. */
interface Logo {
  readonly type: "image/svg+xml" | "image/png";
  readonly body: string;
  readonly encoding: "utf8" | "base64";
  /** Such as 512x512; "any" if it can be drawn at any size. */
  readonly sizes: string;
}

/** Every page shows the logo. */
const MAX_BYTES = 32 * 1024;
const PNG = "\x89PNG\r\n\x1A\n";

/** Reads the file with the setting, so that a wrong file is reported together with all other mistakes. */
const logo: Format<Logo> = {
  right: `the path of a square SVG or PNG file of at most ${MAX_BYTES / 1024} KiB`,
  parse(path) {
    const bytes = readLogo(path);
    return typeof bytes === "string" ? undefined : (readPng(bytes) ?? readSvg(bytes));
  },
  reason(path) {
    const bytes = readLogo(path);
    return typeof bytes === "string" ? bytes : "it is neither SVG nor PNG, or it is not square";
  },
};

/** Returns the bytes, or why the file can't be read. */
function readLogo(path: string): Buffer | string {
  try {
    const { size } = statSync(path);
    return size > MAX_BYTES ? `it has ${size} bytes` : readFileSync(path);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** ISO/IEC 15948, section 11.2.1: width and height come first. */
function readPng(bytes: Buffer): Logo | undefined {
  if (bytes.length < 24 || bytes.toString("latin1", 0, 8) !== PNG) return undefined;
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  if (width !== height) return undefined;
  return {
    type: "image/png",
    body: bytes.toString("base64"),
    encoding: "base64",
    sizes: `${width}x${height}`,
  };
}

/** The browser draws it as an image, so nothing in it runs or loads anything. */
function readSvg(bytes: Buffer): Logo | undefined {
  const text = bytes.toString("utf8");
  const [root = ""] = /<svg[\s>][^>]*/i.exec(text) ?? [];
  const [, box = ""] = /\sviewBox\s*=\s*["']([^"']*)["']/.exec(`${root} `) ?? [];
  const [, , width, height] = box
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  if (!width || width !== height) return undefined;
  return { type: "image/svg+xml", body: text, encoding: "utf8", sizes: "any" };
}

/** How the pages look, and who runs the service. */
export const IDENTITY_SETTINGS = {
  contact: {
    name: "CONTACT",
    default: "none",
    unset: null,
    meaning:
      "e-mail address or https:// page of the operator, shown on every page and published in /.well-known/security.txt",
    takes: contact,
  },
  instanceName: {
    name: "INSTANCE_NAME",
    default: "Curt",
    meaning: "name of this service on its pages",
    takes: words(30),
  },
  homeUrls: {
    name: "HOME_URL",
    default: "none",
    unset: [],
    meaning:
      "address to which / redirects, such as https://www.example.com; the form is then at /+new; for one host of BASE_URL or DOMAINS, brand.example=https://www.brand.example; several are separated by commas",
    takes: listOf(homeUrl),
  },
  accent: {
    name: "ACCENT",
    default: "green",
    unset: null,
    meaning:
      "colour of buttons and links, such as #0b6e4f, or one for light and one for dark mode, such as #0b6e4f,#5cc9a1; must be readable on the pages",
    takes: accent,
  },
  logo: {
    name: "LOGO",
    default: "Curt's",
    unset: null,
    meaning: "square SVG or PNG file of at most 32 KiB, shown on the pages instead of Curt's mark",
    takes: logo,
  },
} satisfies Record<string, Setting>;
