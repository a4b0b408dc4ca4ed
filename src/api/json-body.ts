import { readText } from "../http/body.ts";
import type { RequestRefusal } from "../http/problem-messages.ts";
import { type HttpProblem, type Malformed, malformed } from "../http/problems.ts";
import {
  type AnyBody,
  type Body,
  cut,
  type FieldName,
  FIELDS,
  header,
  MAX_NESTING,
  maxValues,
} from "../lib/bounds.ts";
import { isProblem } from "../links/problem.ts";
import type { z } from "./openapi/schema.ts";

/** JSON (RFC 8259), or text/plain, which a page can send without a preflight. */
const JSON_TYPE = /^(?:application\/(?:[\w.+-]+\+)?json|text\/plain)\s*(?:;|$)/i;

/** Reads and validates the body of a request. `example` is a valid body, for the message about an invalid one. */
export async function readJson<Schema extends z.ZodObject>(
  request: Request,
  bounds: Body<keyof Schema["shape"]>,
  schema: Schema,
  example: JsonObject,
  fixed?: readonly string[],
): Promise<z.infer<Schema> | HttpProblem> {
  const text = await readJsonText(request, bounds);
  const body = isProblem(text) ? text : parseObject(text, bounds, example);
  return isProblem(body) ? body : readFields(body.value, bounds, schema, fixed);
}

/** Reads a body without parsing it. */
export function readJsonText(request: Request, { maxBytes }: AnyBody): Promise<string | HttpProblem> {
  const type = header(request.headers, "content-type", "?");
  if (type !== null && !JSON_TYPE.test(type.trim())) return Promise.resolve({ kind: "body.type" });
  return readText(request, maxBytes);
}

/** Validates the fields of a body. `fixed` are fields that a link has but that nobody can change. */
export function readFields<Schema extends z.ZodObject>(
  sent: JsonObject,
  { fields: known }: Body<keyof Schema["shape"]>,
  schema: Schema,
  fixed: readonly string[] = [],
): z.infer<Schema> | HttpProblem {
  const body = bounded(sent, known);
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const refusals = parsed.error.issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => unknownField(key, known, fixed))
      : [fieldRefusal(issue, body)],
  );
  return { kind: "malformed", refusals };
}

/** In one message. */
const MAX_UNKNOWN = 10;

/** Cuts values, and leaves out unknown fields that no message would name. Nearly always there is nothing to change. */
function bounded(body: JsonObject, known: readonly FieldName[]): JsonObject {
  let tooLong = false;
  for (const name of known) {
    const value = body[name];
    if (typeof value === "string" && value.length > FIELDS[name]) tooLong = true;
  }
  const names = Object.keys(body);
  if (!tooLong && names.length <= known.length + MAX_UNKNOWN) return body;
  const isKnown = (name: string) => known.some((one) => one === name);
  const unknown = names.filter((name) => !isKnown(name)).slice(0, MAX_UNKNOWN);
  const cutFields = known.flatMap((name) => {
    const value = body[name];
    return value === undefined ? [] : [[name, typeof value === "string" ? cut(name, value) : value] as const];
  });
  return Object.fromEntries([...cutFields, ...unknown.map((name) => [name, body[name]] as const)]);
}
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
export function parseObject(
  text: string,
  bounds: AnyBody,
  example: JsonObject,
): Parsed<JsonObject> | Malformed {
  const parsed = parse(text, bounds);
  return isProblem(parsed) ? parsed : toObject(parsed.value, example);
}

/** Doesn't validate the items. */
export function parseArray(
  text: string,
  bounds: AnyBody,
  example: JsonObject,
): Parsed<readonly unknown[]> | Malformed {
  const parsed = parse(text, bounds);
  if (isProblem(parsed)) return parsed;
  const { value } = parsed;
  return Array.isArray(value) ? { value } : wrong("body.array", [example], value);
}

export function toObject(value: unknown, example: JsonObject): Parsed<JsonObject> | Malformed {
  return typeName(value) === "object" ? { value: value as JsonObject } : wrong("body.object", example, value);
}

function parse(text: string, bounds: AnyBody): Parsed<unknown> | Malformed {
  const structure = refuseStructure(text, maxValues(bounds));
  if (structure !== undefined) return malformed(structure);
  try {
    return { value: JSON.parse(text) };
  } catch {
    return malformed({ rule: "body.json" });
  }
}

/** Call it before `JSON.parse`, which takes as long as 200 redirects for 60,000 brackets or 10,000 fields. */
function refuseStructure(text: string, max: number): RequestRefusal | undefined {
  // Nothing short is nested deeply.
  if (text.length <= MAX_NESTING) return undefined;
  let depth = 0;
  let values = 1;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) isString = !isString;
    else if (unit === BACKSLASH && isString) at++;
    else if (isString) continue;
    else if (unit === BRACKET || unit === BRACE) depth++;
    else if (unit === BRACKET + 2 || unit === BRACE + 2) depth--;
    else if (unit === COMMA) values++;
    if (depth > MAX_NESTING) return { rule: "body.nesting", max: MAX_NESTING };
    if (values > max) return { rule: "body.values", max };
  }
  return undefined;
}

const [QUOTE, COMMA, BACKSLASH, BRACKET, BRACE] = [0x22, 0x2c, 0x5c, 0x5b, 0x7b];

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
