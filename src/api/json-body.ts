import type { z } from "@hono/zod-openapi";

import { MAX_BODY_BYTES, readText } from "../http/body.ts";
import { type HttpProblem, type Malformed, malformed, type RequestRefusal } from "../http/problems.ts";
import { isProblem } from "../links/problem.ts";

/** JSON (RFC 8259), or text/plain, which a page can send without a preflight. */
const JSON_TYPE = /^(?:application\/(?:[\w.+-]+\+)?json|text\/plain)\s*(?:;|$)/i;

/** Reads and validates the body of a request. `example` is a valid body, for the message about an invalid one. */
export async function readJson<T>(
  request: Request,
  schema: z.ZodType<T>,
  example: JsonObject,
  otherNames?: OtherNames,
): Promise<T | HttpProblem> {
  const text = await readJsonText(request);
  const body = isProblem(text) ? text : parseObject(text, example);
  return isProblem(body) ? body : readFields(body.value, schema, otherNames);
}

/** Reads a body without parsing it. */
export async function readJsonText(
  request: Request,
  maxBytes = MAX_BODY_BYTES,
): Promise<string | HttpProblem> {
  const type = request.headers.get("content-type");
  if (type !== null && !JSON_TYPE.test(type.trim())) return { kind: "body.type" };
  return readText(request, maxBytes);
}

/** Names that other endpoints have for the same fields. They are refused; any other unknown field is ignored. */
export type OtherNames = Readonly<Record<string, string>>;

/** Validates the fields of a body. */
export function readFields<T>(
  body: JsonObject,
  schema: z.ZodType<T>,
  otherNames: OtherNames = {},
): T | HttpProblem {
  const parsed = schema.safeParse(body);
  const refusals = parsed.success
    ? misnamed(body, otherNames)
    : parsed.error.issues.map((issue) => fieldRefusal(issue, body));
  return parsed.success && refusals.length === 0 ? parsed.data : { kind: "malformed", refusals };
}

/** A body with both names is fine. */
function misnamed(body: JsonObject, otherNames: OtherNames): RequestRefusal[] {
  return Object.entries(otherNames).flatMap(([field, name]) => {
    const isMisnamed = (body[field] ?? null) !== null && body[name] === undefined;
    return isMisnamed ? [{ rule: "field.name", field, name }] : [];
  });
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** The value is wrapped because it could have a `kind`, which would make it look like a problem. */
interface Parsed<T> {
  readonly value: T;
}

/** Doesn't validate the fields. */
export function parseObject(text: string, example: JsonObject): Parsed<JsonObject> | Malformed {
  const parsed = parse(text);
  return isProblem(parsed) ? parsed : toObject(parsed.value, example);
}

/** Doesn't validate the items. */
export function parseArray(text: string, example: JsonObject): Parsed<readonly unknown[]> | Malformed {
  const parsed = parse(text);
  if (isProblem(parsed)) return parsed;
  const { value } = parsed;
  return Array.isArray(value) ? { value } : wrong("body.array", [example], value);
}

export function toObject(value: unknown, example: JsonObject): Parsed<JsonObject> | Malformed {
  return typeName(value) === "object" ? { value: value as JsonObject } : wrong("body.object", example, value);
}

function parse(text: string): Parsed<unknown> | Malformed {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return malformed({ rule: "body.json" });
  }
}

function wrong(rule: "body.object" | "body.array", right: object, received: unknown): Malformed {
  return malformed({ rule, example: JSON.stringify(right), received: typeName(received) });
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
