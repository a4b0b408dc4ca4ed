import { header } from "../lib/bounds.ts";
import { type HttpProblem, malformed } from "./problems.ts";

const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** Reads a body of UTF-8 text. */
export async function readText(request: Request, maxBytes: number): Promise<string | HttpProblem> {
  const { headers } = request;
  const encoding = header(headers, "content-encoding", "?");
  if (encoding !== null && encoding.trim().toLowerCase() !== "identity") return { kind: "body.coding" };
  const tooLarge = { kind: "body.too-large", max: maxBytes } as const;
  const length = header(headers, "content-length");
  if (Number(length) > maxBytes) return tooLarge;
  let bytes: ArrayBuffer | Uint8Array | undefined;
  try {
    bytes = length !== null ? await request.arrayBuffer() : await readUndeclared(request, maxBytes);
  } catch {
    return malformed({ rule: "body.interrupted" });
  }
  if (bytes === undefined) return tooLarge;
  try {
    return UTF8.decode(bytes);
  } catch {
    return malformed({ rule: "body.encoding" });
  }
}

/** Reads a body of unknown length. As soon as it is too large, stops reading and returns undefined. */
async function readUndeclared({ body }: Request, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
