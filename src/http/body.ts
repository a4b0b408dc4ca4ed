import { type HttpProblem, malformed } from "./problems.ts";

export const MAX_BODY_BYTES = 64 * 1024;

const TOO_LARGE = { kind: "body.too-large", max: MAX_BODY_BYTES } as const;
const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** Reads a body of UTF-8 text of at most {@link MAX_BODY_BYTES}. */
export async function readText(request: Request): Promise<string | HttpProblem> {
  const { headers } = request;
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.trim().toLowerCase() !== "identity") return { kind: "body.coding" };
  const length = headers.get("content-length");
  if (Number(length) > MAX_BODY_BYTES) return TOO_LARGE;
  let bytes: ArrayBuffer | Uint8Array | undefined;
  try {
    bytes = length !== null ? await request.arrayBuffer() : await readUndeclared(request);
  } catch {
    return malformed({ rule: "body.interrupted" });
  }
  if (bytes === undefined) return TOO_LARGE;
  try {
    return UTF8.decode(bytes);
  } catch {
    return malformed({ rule: "body.encoding" });
  }
}

/** Reads a body of unknown length. As soon as it is too large, stops reading and returns undefined. */
async function readUndeclared({ body }: Request): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
