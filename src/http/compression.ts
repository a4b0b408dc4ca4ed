import Negotiator from "negotiator";

import { memoize } from "../lib/memoize.ts";

/** In characters. Shorter texts fit into one packet anyway. */
const MIN_LENGTH = 1024;
/** The size of the cache of compressed texts, in bytes. */
const MAX_KEPT_BYTES = 2 * 1024 * 1024;

/** Half the time of the default, for texts that get a twentieth longer. */
const FAST = { library: "libdeflate", level: 1 } as const;

export interface Coded {
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The request header that the choice depended on. Undefined if the text is never compressed. */
  readonly vary?: string;
}

/** Compresses a text with gzip if `Accept-Encoding` allows it (RFC 9110, section 12.5.3). */
export function compress(text: string, acceptEncoding: string | null): Coded {
  if (text.length < MIN_LENGTH) return { body: text };
  const vary = "Accept-Encoding";
  if (!acceptsGzip(acceptEncoding)) return { body: text, vary };
  return { body: gzip(text), headers: { "Content-Encoding": "gzip" }, vary };
}

/** Leaves a text as it is: one that is made for a single reader, and small, is not worth the time of two redirects. */
export function leave(text: string): Coded {
  return { body: text };
}

export function acceptsGzip(acceptEncoding: string | null): boolean {
  return acceptEncoding !== null && gzipWins(acceptEncoding);
}

const gzipWins = memoize(
  (accepted) =>
    new Negotiator({ headers: { "accept-encoding": accepted } }).encoding(["gzip", "identity"]) === "gzip",
  false,
);

const kept = new Map<string, Uint8Array<ArrayBuffer>>();
let keptBytes = 0;

/** Keeps the results: pages that are the same for everyone are requested often. */
function gzip(text: string): Uint8Array<ArrayBuffer> {
  const known = kept.get(text);
  if (known !== undefined) return known;
  const zipped = Bun.gzipSync(text, FAST);
  if (keptBytes > MAX_KEPT_BYTES) {
    kept.clear();
    keptBytes = 0;
  }
  kept.set(text, zipped);
  keptBytes += text.length + zipped.length;
  return zipped;
}
