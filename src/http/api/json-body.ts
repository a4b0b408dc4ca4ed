import type { z } from "@hono/zod-openapi";

import { isProblem } from "../../links/problem.ts";
import { readText } from "../body.ts";
import { type HttpProblem, type Malformed, malformed, type RequestRefusal } from "../problems.ts";

/** JSON (RFC 8259), or text/plain, which a page can send without a preflight. */
const JSON_TYPE = /^(?:application\/(?:[\w.+-]+\+)?json|text\/plain)\s*(?:;|$)/i;

/** Reads and validates the body of a request. `example` is a body that would be right, for the message about a wrong one. */
export async function readJson<T>(
  request: Request,
  schema: z.ZodType<T>,
  example: JsonObject,
): Promise<T | HttpProblem> {
  const body = await readObject(request, example);
  return isProblem(body) ? body : readFields(body.value, schema);
}

/** Reads a body without validating its fields. It is wrapped because a key of it could be `kind`, by which a problem is told. */
export async function readObject(
  request: Request,
  example: JsonObject,
): Promise<{ readonly value: JsonObject } | HttpProblem> {
  const type = request.headers.get("content-type");
  if (type !== null && !JSON_TYPE.test(type.trim())) return { kind: "body.type" };
  const text = await readText(request);
  return isProblem(text) ? text : parseObject(text, example);
}

/** Validates what a body has. */
export function readFields<T>(body: JsonObject, schema: z.ZodType<T>): T | HttpProblem {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  return { kind: "malformed", refusals: parsed.error.issues.map((issue) => fieldRefusal(issue, body)) };
}

export type JsonObject = Readonly<Record<string, unknown>>;

function parseObject(text: string, example: JsonObject): { value: JsonObject } | Malformed {
  try {
    const value: unknown = JSON.parse(text);
    if (typeName(value) === "object") return { value: value as JsonObject };
    const right = JSON.stringify(example);
    return malformed({ rule: "body.object", example: right, received: typeName(value) });
  } catch {
    return malformed({ rule: "body.json" });
  }
}

function fieldRefusal(issue: z.core.$ZodIssue, body: JsonObject): RequestRefusal {
  const field = String(issue.path[0]);
  const received = body[field];
  if (received === undefined) return { rule: "field.required", field };
  if (issue.code === "invalid_value" && typeof received === "string") {
    return { rule: "field.values", field, values: issue.values.join(", ") };
  }
  const expected = issue.code === "invalid_type" ? issue.expected : "string";
  return { rule: "field.type", field, expected, received: typeName(received) };
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
