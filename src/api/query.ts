import type { RequestRefusal } from "../http/problem-messages.ts";
import { type Malformed, malformed } from "../http/problems.ts";
import { parametersOf } from "../http/url.ts";
import type { z } from "./openapi/schema.ts";

/** Says what is wrong with the value of a parameter. */
type Refuse = (field: string, received: string) => RequestRefusal;

/**
 * Reads a query. A value that the schema refuses becomes part of the problem and is replaced by its default. If a parameter is
 * repeated, the last one counts. An empty one counts as missing.
 */
export function readQuery<T extends z.ZodObject>(
  request: Request,
  schema: T,
  refusals: Readonly<Record<keyof T["shape"], Refuse>>,
): { query: z.infer<T>; problem?: Malformed } {
  const parameters = [...parametersOf(request)].filter(([, value]) => value);
  const result = schema.safeParse(Object.fromEntries(parameters));
  if (result.success) return { query: result.data };
  const badNames = [...new Set(result.error.issues.map(({ path }) => String(path[0])))];
  const values = new Map(parameters);
  const accepted = parameters.filter(([name]) => !badNames.includes(name));
  return {
    query: schema.parse(Object.fromEntries(accepted)),
    problem: malformed(
      ...badNames.map((field) => refusals[field as keyof T["shape"]](field, values.get(field) ?? "")),
    ),
  };
}

export const oneOf =
  (values: readonly string[]): Refuse =>
  (field) => ({ rule: "field.values", field, values: values.join(", ") });
