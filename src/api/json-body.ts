import { z } from "@hono/zod-openapi";

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
  fixed?: readonly string[],
): Promise<T | HttpProblem> {
  const text = await readJsonText(request);
  const body = isProblem(text) ? text : parseObject(text, example);
  return isProblem(body) ? body : readFields(body.value, schema, fixed);
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

/** Validates the fields of a body. `fixed` are fields that a link has but that nobody can change. */
export function readFields<T>(
  body: JsonObject,
  schema: z.ZodType<T>,
  fixed: readonly string[] = [],
): T | HttpProblem {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const refusals = parsed.error.issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.slice(0, MAX_UNKNOWN).map((key) => unknownField(key, known, fixed))
      : [fieldRefusal(issue, body)],
  );
  return { kind: "malformed", refusals };
}

/** In one message. */
const MAX_UNKNOWN = 10;
const MAX_NAME_LENGTH = 64;
/** How other shorteners, and the contract's endpoint, name our fields. */
const MEANT: ReadonlyMap<string, string> = new Map([
  ...["original_url", "url", "long_url", "longUrl", "destination"].map((name) => [name, "target"] as const),
  ...["custom_code", "alias", "slug"].map((name) => [name, "code"] as const),
]);
/** A field is meant if its first letters are the same: `expire_duration` means `expires_at`. */
const ALIKE = 3;

function unknownField(name: string, known: readonly string[], fixed: readonly string[]): RequestRefusal {
  const field = name.slice(0, MAX_NAME_LENGTH).toWellFormed();
  if (fixed.includes(name)) return { rule: "field.fixed", field };
  const start = name.slice(0, ALIKE).toLowerCase();
  const meant = known.find((one) => one === MEANT.get(name) || one.slice(0, ALIKE) === start);
  return { rule: "field.unknown", field, meant };
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
