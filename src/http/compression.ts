import Negotiator from "negotiator";

import { memoize } from "../memoize.ts";

/** Shorter texts fit into one packet anyway. In characters. */
const MIN_LENGTH = 1024;
/** Of the compressed texts that are kept, in bytes. */
const MAX_KEPT_BYTES = 2 * 1024 * 1024;

export interface Coded {
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
  /** What the choice was made by; undefined where there was none. */
  readonly vary?: string;
}

/** A text as `Accept-Encoding` asks for it (RFC 9110, section 12.5.3): gzip, or as it is. */
export function compress(text: string, acceptEncoding: string | null): Coded {
  if (text.length < MIN_LENGTH) return { body: text };
  const vary = "Accept-Encoding";
  if (!acceptsGzip(acceptEncoding)) return { body: text, vary };
  return { body: gzip(text), headers: { "Content-Encoding": "gzip" }, vary };
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

/** Pages that are the same for everyone come again and again, and are compressed once. */
function gzip(text: string): Uint8Array<ArrayBuffer> {
  const known = kept.get(text);
  if (known !== undefined) return known;
  const zipped = Bun.gzipSync(text);
  if (keptBytes > MAX_KEPT_BYTES) {
    kept.clear();
    keptBytes = 0;
  }
  kept.set(text, zipped);
  keptBytes += text.length + zipped.length;
  return zipped;
}
