import type { z } from "@hono/zod-openapi";

import type { RequestFault, HttpProblem } from "./problems.ts";
import { EXAMPLE, MAX_BODY_BYTES, shortenRequest } from "./schemas.ts";

/** JSON (RFC 8259), or text/plain, which a page can send without a preflight. */
const JSON_TYPE = /^(?:application\/(?:[\w.+-]+\+)?json|text\/plain)\s*(?:;|$)/i;

const TOO_LARGE = { kind: "body.too-large", max: MAX_BODY_BYTES } as const;
const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** Reads and validates the body of a create request. */
export async function readShortenRequest(
  request: Request,
): Promise<z.infer<typeof shortenRequest> | HttpProblem> {
  const type = request.headers.get("content-type");
  const encoding = request.headers.get("content-encoding");
  if (type !== null && !JSON_TYPE.test(type.trim())) return { kind: "body.type" };
  if (encoding !== null && encoding.trim().toLowerCase() !== "identity") return { kind: "body.coding" };
  if (Number(request.headers.get("content-length")) > MAX_BODY_BYTES) return TOO_LARGE;
  const body = await readJson(request);
  if ("kind" in body) return body;
  if ("rule" in body) return { kind: "malformed", faults: [body] };
  const parsed = shortenRequest.safeParse(body.value);
  if (parsed.success) return parsed.data;
  return { kind: "malformed", faults: parsed.error.issues.map((issue) => fieldFault(issue, body.value)) };
}

type JsonObject = Readonly<Record<string, unknown>>;

async function readJson(request: Request): Promise<{ value: JsonObject } | RequestFault | typeof TOO_LARGE> {
  let bytes: ArrayBuffer | Uint8Array | undefined;
  try {
    bytes = request.headers.has("content-length")
      ? await request.arrayBuffer()
      : await readUndeclared(request);
  } catch {
    return { rule: "body.interrupted" };
  }
  if (bytes === undefined) return TOO_LARGE;
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    return { rule: "body.encoding" };
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeName(value) === "object") return { value: value as JsonObject };
    const example = JSON.stringify({ original_url: EXAMPLE.original_url });
    return { rule: "body.object", example, received: typeName(value) };
  } catch {
    return { rule: "body.json" };
  }
}

/** A body sent in chunks; undefined once it is too large, and no more of it is read. */
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

function fieldFault(issue: z.core.$ZodIssue, body: JsonObject): RequestFault {
  const field = String(issue.path[0]);
  const received = body[field];
  if (received === undefined) return { rule: "field.required", field };
  if (issue.code === "invalid_value" && typeof received === "string") {
    return { rule: "field.values", field, values: issue.values.join(", ") };
  }
  return { rule: "field.type", field, expected: "string", received: typeName(received) };
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
