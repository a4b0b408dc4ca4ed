import type { z } from "@hono/zod-openapi";

import { isProblem } from "../../links/problem.ts";
import type { HttpProblem, Malformed, RequestRefusal } from "../problems.ts";
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
  if (type !== null && !JSON_TYPE.test(type.trim())) return { kind: "body.type" };
  const text = await readText(request);
  if (isProblem(text)) return text;
  const body = parseObject(text);
  if (isProblem(body)) return body;
  const parsed = shortenRequest.safeParse(body.value);
  if (parsed.success) return parsed.data;
  return { kind: "malformed", refusals: parsed.error.issues.map((issue) => fieldRefusal(issue, body.value)) };
}

/** Reads what a form sends without a script (WHATWG URL, section 5: application/x-www-form-urlencoded). */
export async function readForm(request: Request): Promise<URLSearchParams | HttpProblem> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type.trim())) return { kind: "body.form" };
  const text = await readText(request);
  if (isProblem(text)) return text;
  return parseForm(text);
}

/**
 * Refuses a value that is not UTF-8 once percent-decoded: the parser would put U+FFFD in its place, and a form in
 * another encoding would make a link that leads elsewhere than its maker said.
 */
export function parseForm(text: string): URLSearchParams | Malformed {
  try {
    for (const run of text.match(/(?:%[\dA-F]{2})+/gi) ?? []) decodeURIComponent(run);
    return new URLSearchParams(text);
  } catch {
    return malformed({ rule: "body.encoding" });
  }
}

async function readText(request: Request): Promise<string | HttpProblem> {
  const { headers } = request;
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.trim().toLowerCase() !== "identity") return { kind: "body.coding" };
  if (Number(headers.get("content-length")) > MAX_BODY_BYTES) return TOO_LARGE;
  let bytes: ArrayBuffer | Uint8Array | undefined;
  try {
    bytes = headers.has("content-length") ? await request.arrayBuffer() : await readUndeclared(request);
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

type JsonObject = Readonly<Record<string, unknown>>;

/** In an object of its own, because a key of the body could be `kind`. */
function parseObject(text: string): { value: JsonObject } | Malformed {
  try {
    const value: unknown = JSON.parse(text);
    if (typeName(value) === "object") return { value: value as JsonObject };
    const example = JSON.stringify({ original_url: EXAMPLE.original_url });
    return malformed({ rule: "body.object", example, received: typeName(value) });
  } catch {
    return malformed({ rule: "body.json" });
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

function fieldRefusal(issue: z.core.$ZodIssue, body: JsonObject): RequestRefusal {
  const field = String(issue.path[0]);
  const received = body[field];
  if (received === undefined) return { rule: "field.required", field };
  if (issue.code === "invalid_value" && typeof received === "string") {
    return { rule: "field.values", field, values: issue.values.join(", ") };
  }
  return { rule: "field.type", field, expected: "string", received: typeName(received) };
}

function malformed(refusal: RequestRefusal): Malformed {
  return { kind: "malformed", refusals: [refusal] };
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
