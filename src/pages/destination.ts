import { domainToUnicode } from "node:url";

/** A URL as people read it. */
export interface Destination {
  /** In the script of its owner, or in ASCII where that could pretend to be another. */
  readonly host: string;
  /** The same in ASCII (RFC 5890), where that differs: one script can imitate another. */
  readonly asciiHost?: string;
  /** The whole address, with letters instead of their percent-encoding. */
  readonly address: string;
}

export function describeDestination(target: string): Destination {
  const url = new URL(target);
  const unicode = domainToUnicode(url.hostname);
  const host = isHarmless(unicode) ? unicode : url.hostname;
  const address = readable(target);
  return host === url.hostname ? { host, address } : { host, asciiHost: url.hostname, address };
}

/** Only what is a letter, a few marks behind one, or a number is spelled out; all else could pretend to be something. */
const HARMLESS = /^(?:[\p{L}\p{N}]\p{M}{0,4})+$/u;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

/** Scripts that are written together (UTS #39, section 5.1); the host of any other is told in ASCII only. */
const SCRIPTS = [
  ...["Latn", "Cyrl", "Grek", "Armn", "Geor", "Arab", "Hebr", "Thai", "Deva", "Beng", "Taml", "Ethi"].map(
    (one) => [one],
  ),
  ["Hang", "Hani"],
  ["Hani", "Hira", "Kana", "Bopo"],
];
/** Of a host: letters of one script with few marks, without those that look like a slash, a dot or a colon. */
const HARMLESS_LABEL = new RegExp(
  SCRIPTS.map((scripts) => {
    const letters = `[[${scripts.map((one) => `\\p{scx=${one}}`).join("")}]&&[\\p{L}--[\\p{Lm}--[々ー]]--[ǀ-ǃノ]]]`;
    return `^(?:[${letters}0-9\\-]\\p{M}{0,4})+$`;
  }).join("|"),
  "v",
);

function isHarmless(host: string): boolean {
  return host.split(".").every((label) => HARMLESS_LABEL.test(label));
}

function readable(address: string): string {
  return address.replace(/(?:%[0-9A-F]{2})+/gi, (encoded) => {
    try {
      const text = decodeURIComponent(encoded).normalize("NFC");
      return HARMLESS.test(text) && !INVISIBLE.test(text) ? text : encoded;
    } catch {
      return encoded;
    }
  });
}
