import { domainToUnicode } from "node:url";

import { memoize, once } from "../../lib/memoize.ts";
import { authorityOf } from "../../links/target.ts";
import { registrableDomain } from "../../moderation/blocklist/domain-name.ts";
import { hasLookAlikes, imitatesAscii, usualLetters } from "./look-alikes.ts";

/** A URL for people. */
export interface Destination {
  /** In the owner's script, or in ASCII if that could imitate another host. */
  readonly host: string;
  /** The ASCII form (RFC 5890), if it differs. */
  readonly asciiHost?: string;
  /** Whether the host is in ASCII because its letters look like others, which deserves a warning. */
  readonly isMistakable: boolean;
  /** The letters of such a host, if it contains only letters. */
  readonly letters?: string;
  /** "" if it is the default one. */
  readonly port: string;
  readonly isHttp: boolean;
  /** With letters instead of percent-encoding where that is harmless. */
  readonly address: string;
}

export function describeDestination(target: string): Destination {
  const { host: ascii, port } = authorityOf(target);
  const unicode = domainToUnicode(ascii);
  const describedBy = { port, isHttp: target.startsWith("http:"), address: decode(target) };
  if (unicode === ascii) return { ...describedBy, host: ascii, isMistakable: false };
  if (isHarmless(unicode)) return { ...describedBy, host: unicode, asciiHost: ascii, isMistakable: false };
  if (!hasLookAlikes(unicode)) return { ...describedBy, host: ascii, isMistakable: false };
  return {
    ...describedBy,
    host: ascii,
    isMistakable: true,
    ...(isOfLetters().test(unicode) && { letters: unicode }),
  };
}

/** The host in two parts. The owner of the second, the registrable domain, chooses the first freely. */
export function splitHost({ host, asciiHost = host }: Destination): [front: string, domain: string] {
  const { length } = registrableDomain(asciiHost).split(".");
  const labels = host.split(/(?<=\.)/);
  return [labels.slice(0, -length).join(""), labels.slice(-length).join("")];
}

/**
 * Returns the registrable domain for a button, in ASCII if it has other Latin letters. People who know a name read "paypạl"
 * as "paypal", and no table has every such letter.
 */
export function domainInAscii(destination: Destination): string {
  const [, domain] = splitHost(destination);
  const { asciiHost } = destination;
  return asciiHost !== undefined && OTHER_LATIN.test(domain)
    ? splitHost({ ...destination, host: asciiHost })[1]
    : domain;
}

const OTHER_LATIN = /[\p{scx=Latn}--[a-z]]/v;

/** Letters with a few marks, and numbers. Everything else could imitate something, so it stays encoded. */
const HARMLESS = /(?:[[\p{L}\p{N}]--\p{DI}][\p{M}--\p{DI}]{0,4}(?!\p{M}))+/v;
const pieces = once(() => new RegExp(`(${HARMLESS.source})`, "v"));

/** Scripts that are written together (UTS #39, section 5.1). Hosts in other scripts are shown in ASCII. */
const SCRIPTS = [
  ...["Latn", "Cyrl", "Grek", "Armn", "Geor", "Arab", "Hebr", "Thai", "Deva", "Beng", "Taml", "Ethi"].map(
    (one) => [one],
  ),
  ["Hang", "Hani"],
  ["Hani", "Hira", "Kana", "Bopo"],
];
/** Look like a slash, a dot or a colon: modifiers, clicks, strokes, and jamo, which stand in syllables elsewhere. */
const LOOK_ALIKES = "[\\p{Lm}--[々ー]][ǀ-ǃノ丶丨丿\\u1100-\\u11FF\\uA960-\\uA97F\\uD7B0-\\uD7FF]";
/** The visargas of Devanagari and Bengali look like a colon. */
const LOOK_ALIKE_MARKS = "\\u0903\\u0983";
/** Letters of one script, with few marks. */
const harmlessLabel = once(() => {
  const ofScripts = SCRIPTS.map((scripts) => {
    const letters = `[[${usualLetters(...scripts)}]--[${LOOK_ALIKES}]]`;
    return `^(?:[${letters}0-9\\-][\\p{M}--[${LOOK_ALIKE_MARKS}]]{0,4})+$`;
  });
  return new RegExp(ofScripts.join("|"), "v");
});

/** Letters of any scripts, with few marks. */
const isOfLetters = once(
  () => new RegExp(`^(?:[[\\p{L}--[${LOOK_ALIKES}]]0-9.\\-][\\p{M}--[${LOOK_ALIKE_MARKS}]]{0,4})+$`, "v"),
);

function isHarmless(host: string): boolean {
  return host.split(".").every((label) => harmlessLabel().test(label)) && !imitatesAscii(host);
}

function decode(address: string): string {
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

/** Encodes every character (RFC 3986, section 2.1). */
function percentEncode(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
    .join("");
}
