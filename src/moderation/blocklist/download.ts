import { lookup } from "node:dns/promises";
import type { FileHandle } from "node:fs/promises";

import { isPrivateHost } from "../../links/target.ts";

const MAX_MS = 60_000;
/** After decompression. */
export const MAX_BYTES = 64 * 1024 * 1024;
const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Tests lower the size and allow redirects to their own server. */
export interface DownloadOverrides {
  readonly downloadMaxBytes?: number;
  readonly mayFollow?: (url: URL) => Promise<boolean>;
}

/** The validators of a response (RFC 9110, section 8.8). */
export interface Validators {
  readonly etag?: string | undefined;
  readonly modified?: string | undefined;
}

/**
 * Downloads an address into a file. Returns undefined if the response hasn't changed since the known validators. Rejects
 * if it fails, is too long or too slow.
 */
export async function download(
  address: string,
  known: Validators,
  to: FileHandle,
  stop: AbortSignal,
  { downloadMaxBytes = MAX_BYTES, mayFollow = isPublic }: DownloadOverrides,
): Promise<Validators | undefined> {
  const headers = new Headers({ "Accept-Encoding": "gzip" });
  if (known.etag !== undefined) headers.set("If-None-Match", known.etag);
  if (known.modified !== undefined) headers.set("If-Modified-Since", known.modified);
  const signal = AbortSignal.any([stop, AbortSignal.timeout(MAX_MS)]);
  const response = await follow(address, { headers, signal }, mayFollow);
  if (response.status === 304 && (headers.has("If-None-Match") || headers.has("If-Modified-Since")))
    return undefined;
  if (response.status !== 200 || response.body === null) throw new Error(`it answers ${response.status}`);
  let bytes = 0;
  for await (const chunk of decompressed(response.body, response.headers.get("content-encoding"))) {
    bytes += chunk.length;
    if (bytes > downloadMaxBytes) throw new Error(`it has more than ${downloadMaxBytes} bytes`);
    const { bytesWritten } = await to.write(chunk);
    if (bytesWritten < chunk.length)
      throw new Error("it could not be written, perhaps because the disk is full");
  }
  await to.sync();
  return {
    etag: response.headers.get("etag") ?? undefined,
    modified: response.headers.get("last-modified") ?? undefined,
  };
}

/**
 * Decompresses gzip chunk by chunk, each at most to a thousand times its size. Bun would decompress a whole response,
 * even zstd that nobody requested, where 32 kB can become 1 GB.
 */
function decompressed(body: ReadableStream<Uint8Array<ArrayBuffer>>, coding: string | null) {
  if (coding === null || /^identity$/i.test(coding)) return body;
  if (!/^(?:x-)?gzip$/i.test(coding)) throw new Error("it is compressed, but not with gzip");
  return body.pipeThrough(new DecompressionStream("gzip"));
}

async function follow(
  address: string,
  init: RequestInit,
  mayFollow: (url: URL) => Promise<boolean>,
): Promise<Response> {
  let url = address;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const response = await fetch(url, { ...init, redirect: "manual", decompress: false });
    const location = response.headers.get("location");
    if (!REDIRECTS.has(response.status) || location === null) return response;
    await response.body?.cancel();
    const next = URL.parse(location, url);
    if (next === null || !(await mayFollow(next)))
      throw new Error("it redirects to an address that is not allowed");
    url = next.href;
  }
  throw new Error(`it redirects more than ${MAX_REDIRECTS} times`);
}

/**
 * Prevents redirects into this machine's own network. If the name resolves elsewhere a moment later, the server there has
 * no certificate for it.
 */
async function isPublic({ protocol, hostname }: URL): Promise<boolean> {
  if (protocol !== "https:" || isPrivateHost(hostname)) return false;
  if (hostname.startsWith("[")) return true;
  const addresses = await lookup(hostname, { all: true });
  return !addresses.some(({ address }) => isPrivateHost(address));
}
