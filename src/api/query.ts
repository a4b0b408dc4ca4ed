import type { z } from "@hono/zod-openapi";

import { type Malformed, malformed, type RequestRefusal } from "../http/problems.ts";
import { queryOf } from "../http/url.ts";

/** Says what is wrong with the value of a parameter. */
type Refuse = (field: string, received: string) => RequestRefusal;

/**
 * Reads a query. What the schema refuses becomes part of the problem, and the query has its default instead. The last one of
 * equal parameters counts, and an empty one counts as missing.
 */
export function readQuery<T extends z.ZodObject>(
  request: Request,
  schema: T,
  refusals: Readonly<Record<keyof T["shape"], Refuse>>,
): { query: z.infer<T>; problem?: Malformed } {
  const given = [...new URLSearchParams(queryOf(request))].filter(([, value]) => value);
  const parsed = schema.safeParse(Object.fromEntries(given));
  if (parsed.success) return { query: parsed.data };
  const refused = [...new Set(parsed.error.issues.map(({ path }) => String(path[0])))];
  const values = new Map(given);
  const accepted = given.filter(([name]) => !refused.includes(name));
  return {
    query: schema.parse(Object.fromEntries(accepted)),
    problem: malformed(
      ...refused.map((field) => refusals[field as keyof T["shape"]](field, values.get(field) ?? "")),
    ),
  };
}

export const oneOf =
  (values: readonly string[]): Refuse =>
  (field) => ({ rule: "field.values", field, values: values.join(", ") });
