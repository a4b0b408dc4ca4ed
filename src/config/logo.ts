import { readFileSync, statSync } from "node:fs";

import type { Format } from "./formats.ts";

/** A square picture, as it is sent. */
interface Logo {
  readonly type: "image/svg+xml" | "image/png";
  readonly body: string;
  readonly encoding: "utf8" | "base64";
  /** Such as 512x512; "any" if it can be drawn at any size. */
  readonly sizes: string;
}

/** Every page shows it. */
const MAX_BYTES = 32 * 1024;
const PNG = "\x89PNG\r\n\x1A\n";

/** The file is read with the setting, so that a wrong one is told with all other mistakes. */
export const logo: Format<Logo> = {
  right: `the path of a square SVG or PNG file of at most ${MAX_BYTES / 1024} KiB`,
  parse(path) {
    const bytes = read(path);
    return typeof bytes === "string" ? undefined : (readPng(bytes) ?? readSvg(bytes));
  },
  reason(path) {
    const bytes = read(path);
    return typeof bytes === "string" ? bytes : "it is neither SVG nor PNG, or it is not square";
  },
};

/** The file's bytes, or why there are none. */
function read(path: string): Buffer | string {
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
