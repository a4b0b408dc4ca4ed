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
  const host = HARMLESS_HOST.test(unicode) ? unicode : url.hostname;
  const address = readable(target);
  return host === url.hostname ? { host, address } : { host, asciiHost: url.hostname, address };
}

/**
 * Only what is a letter, a few marks behind one, or a number is spelled out; all else could pretend to be something,
 * as U+2215 does in a host, or, as a heap of marks, lie over what stands beside it.
 */
const HARMLESS = /^(?:[\p{L}\p{N}]\p{M}{0,4})+$/u;
const HARMLESS_HOST = /^(?:[\p{L}\p{N}.-]\p{M}{0,4})+$/u;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

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
