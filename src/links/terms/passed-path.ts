import { forwardsPath } from "../link.ts";
import { MAX_DESTINATION_LENGTH } from "../target.ts";

/** Where a destination takes the path. Paths of URLs encode the braces. */
const PLACE = /%7Bpath%7D|\{path\}/g;
const HAS_PLACE = new RegExp(PLACE.source);
const WHOLE_SEGMENT = new RegExp(`(?<=/)(?:${PLACE.source})/`, "g");
/** Overlong UTF-8 of an ASCII character, of two to six bytes (RFC 3629, section 10). */
const OVERLONG = /(?:%c|(?:%e0|%f0%80|%f8%80%80|%fc%80%80%80)%8)([01])%([89ab][\da-f])/g;
/** Slashes of other scripts that NFKC leaves as they are. */
const SLASHES = { "∕": "/", "⁄": "/", "∖": "\\" } as const;
/** Nobody encodes a path more often. */
const MAX_ENCODINGS = 8;
/** Up a folder, also before a parameter or spaces, which some servers cut off. */
const CLIMBING = /(?:^|[/\\])\.\. *(?:[/\\;?#]|$)/;
const CONTROL = /\p{Cc}/u;

/**
 * Encodes a path as in a URL, because HTTP/1.0 requests without `Host` have raw ones. Undefined if it could lead to a higher folder
 * or to another host, on any server.
 */
export function parsePath(written: string): string | undefined {
  if (isHostile(written)) return undefined;
  const path = URL.parse(`http://host${written}`)?.pathname;
  return path === undefined || isHostile(path) ? undefined : path;
}

/** The path after the code of a visit that a page or a report is about. "" if the link of the code doesn't pass it on. */
export function visitedPath(link: Parameters<typeof forwardsPath>[0], written: string | null): string {
  if (written === null || !written.startsWith("/") || !forwardsPath(link)) return "";
  const path = parsePath(written) ?? "";
  return path === "/" ? "" : path;
}

/**
 * The destination with a path that {@link parsePath} returned, in place of each `{path}`, or else at the end of its own path. Undefined
 * if they don't fit together. Nothing is cut.
 */
export function withPath(target: string, path: string): string | undefined {
  const [, authority = "", folder = "", query = "", fragment = ""] =
    /^(https?:\/\/[^/?#]*)([^?#]*)([^#]*)(.*)$/s.exec(target) ?? [];
  const value = path.slice(1);
  if (!HAS_PLACE.test(folder + query + fragment))
    return fitting(
      value === "" ? target : `${authority}${folder.replace(/\/$/, "")}${path}${query}${fragment}`,
    );
  const filled = folder
    // Without two slashes in a row.
    .replaceAll(WHOLE_SEGMENT, () => value && `${value.replace(/\/$/, "")}/`)
    .replaceAll(PLACE, () => value);
  // A destination such as /.{path} could become one.
  if (isClimbing(filled) && !isClimbing(folder)) return undefined;
  const [inQuery, inFragment] = [() => encodeValue(value), () => value];
  return fitting(
    `${authority}${filled}${query.replaceAll(PLACE, inQuery)}${fragment.replaceAll(PLACE, inFragment)}`,
  );
}

function fitting(destination: string): string | undefined {
  return destination.length > MAX_DESTINATION_LENGTH ? undefined : destination;
}

/** Encoded for one parameter of a query. Bytes that are encoded stay so, also if they aren't UTF-8. */
function encodeValue(path: string): string {
  return path
    .split(/(%[\dA-F]{2})/i)
    .map((part, nth) => (nth % 2 === 1 ? part : encodeURIComponent(part).replaceAll("'", "%27")))
    .join("");
}

function isHostile(path: string): boolean {
  const plain = decode(path);
  return plain === undefined || /^[/\\]{2}/.test(plain) || CONTROL.test(plain) || CLIMBING.test(plain);
}

function isClimbing(path: string): boolean {
  const plain = decode(path);
  return plain === undefined || CLIMBING.test(plain);
}

/** In lower case and NFKC, as some servers read a path, without any encoding, however often. Undefined if that is too often. */
function decode(path: string): string | undefined {
  let text = path.toLowerCase();
  for (let times = 0; times <= MAX_ENCODINGS; times++) {
    const before = text;
    text = text
      .replaceAll(OVERLONG, (_, high: string, low: string) =>
        ofCode(Number(high) * 64 + (Number.parseInt(low, 16) & 63)),
      )
      .replaceAll(/%u([\da-f]{4})/g, (_, hex: string) => ofCode(Number.parseInt(hex, 16)))
      .replaceAll(/%([0-7][\da-f])/g, (_, hex: string) => ofCode(Number.parseInt(hex, 16)))
      .replaceAll(/(?:%[89a-f][\da-f])+/g, decodeUtf8)
      .normalize("NFKC")
      .replaceAll(/[∕⁄∖]/g, (slash) => SLASHES[slash as keyof typeof SLASHES])
      .toLowerCase();
    if (text === before) return text;
  }
  return undefined;
}

const ofCode = (code: number) => String.fromCharCode(code);

/** Bytes that aren't UTF-8 stay encoded. */
function decodeUtf8(bytes: string): string {
  try {
    return decodeURIComponent(bytes);
  } catch {
    return bytes;
  }
}
