import { domainToUnicode } from "node:url";

import { memoize, once } from "../../lib/memoize.ts";
import { authorityOf } from "../../links/target.ts";
import { registrableDomain } from "../../moderation/domain-name.ts";
import { hasLookAlikes, imitatesAscii } from "./look-alikes.ts";

/** A URL as people read it. */
export interface Destination {
  /** In the script of its owner, or in ASCII where that could pretend to be another. */
  readonly host: string;
  /** The same in ASCII (RFC 5890), where that differs: one script can imitate another. */
  readonly asciiHost?: string;
  /** The host is told in ASCII because of letters that could be taken for others: who reads it should know. */
  readonly isMistakable: boolean;
  /** Such a host in its own letters, if they are nothing worse than letters. */
  readonly letters?: string;
  /** "" if it is the usual one. */
  readonly port: string;
  /** Nothing between the reader and the site is encrypted. */
  readonly isHttp: boolean;
  /** The whole address, with letters instead of their percent-encoding. */
  readonly address: string;
}

export function describeDestination(target: string): Destination {
  const { host: ascii, port } = authorityOf(target);
  const unicode = domainToUnicode(ascii);
  const described = { port, isHttp: target.startsWith("http:"), address: readable(target) };
  if (unicode === ascii) return { ...described, host: ascii, isMistakable: false };
  if (isHarmless(unicode)) return { ...described, host: unicode, asciiHost: ascii, isMistakable: false };
  if (!hasLookAlikes(unicode)) return { ...described, host: ascii, isMistakable: false };
  return {
    ...described,
    host: ascii,
    isMistakable: true,
    ...(isOfLetters().test(unicode) && { letters: unicode }),
  };
}

/** The host in two parts. The second is the registrable domain, whose owner can choose the first freely. */
export function splitHost({ host, asciiHost = host }: Destination): [front: string, domain: string] {
  const { length } = registrableDomain(asciiHost).split(".");
  const labels = host.split(/(?<=\.)/);
  return [labels.slice(0, -length).join(""), labels.slice(-length).join("")];
}

/** Letters, a few marks behind each, and numbers are spelled out; all else could pretend to be something. */
const HARMLESS = /(?:[[\p{L}\p{N}]--\p{DI}][\p{M}--\p{DI}]{0,4}(?!\p{M}))+/v;
/** Text in pieces that are harmless and pieces that are not. */
const pieces = once(() => new RegExp(`(${HARMLESS.source})`, "v"));

/** Scripts that are written together (UTS #39, section 5.1); the host of any other is told in ASCII only. */
const SCRIPTS = [
  ...["Latn", "Cyrl", "Grek", "Armn", "Geor", "Arab", "Hebr", "Thai", "Deva", "Beng", "Taml", "Ethi"].map(
    (one) => [one],
  ),
  ["Hang", "Hani"],
  ["Hani", "Hira", "Kana", "Bopo"],
];
/** Look like a slash, a dot or a colon: modifiers, clicks, strokes, and jamo, which stand in syllables elsewhere. */
const LOOK_ALIKES = "[\\p{Lm}--[々ー]][ǀ-ǃノ丶丨丿\\u1100-\\u11FF\\uA960-\\uA97F\\uD7B0-\\uD7FF]";
/** As do the visargas of Devanagari and Bengali. */
const LOOK_ALIKE_MARKS = "\\u0903\\u0983";
/** Of a host: letters of one script, with few marks. */
const harmlessLabel = once(() => {
  const ofScripts = SCRIPTS.map((scripts) => {
    const letters = `[[${scripts.map((one) => `\\p{scx=${one}}`).join("")}]&&[\\p{L}--[${LOOK_ALIKES}]]]`;
    return `^(?:[${letters}0-9\\-][\\p{M}--[${LOOK_ALIKE_MARKS}]]{0,4})+$`;
  });
  return new RegExp(ofScripts.join("|"), "v");
});

/** Of the letters of any scripts, with few marks. */
const isOfLetters = once(
  () => new RegExp(`^(?:[[\\p{L}--[${LOOK_ALIKES}]]0-9.\\-][\\p{M}--[${LOOK_ALIKE_MARKS}]]{0,4})+$`, "v"),
);

function isHarmless(host: string): boolean {
  return host.split(".").every((label) => harmlessLabel().test(label)) && !imitatesAscii(host);
}

function readable(address: string): string {
  return address.replace(/(?:%[0-9A-F]{2})+/gi, spellOut);
}

/** An address may have thousands of these, most of them equal. */
const spellOut = memoize((encoded) => {
  try {
    return decodeURIComponent(encoded)
      .split(pieces())
      .map((piece, nth) => (nth % 2 === 1 ? piece.normalize("NFC") : percentEncode(piece)))
      .join("");
  } catch {
    return encoded;
  }
});

/** RFC 3986, section 2.1, of every character. */
function percentEncode(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
    .join("");
}
