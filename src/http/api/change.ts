import type { EditRequest } from "../../links/manage.ts";
import { isProblem } from "../../links/problem.ts";
import type { HttpProblem } from "../problems.ts";
import { readExpiry } from "./create.ts";
import { readJson } from "./json-body.ts";
import { CHANGE_EXAMPLE, linkChange, SHORTEN_NAMES } from "./link-schemas.ts";

/** Reads a body that changes a link. Like `create.ts`, this is loaded with the first one. */
export async function readChange(request: Request): Promise<EditRequest | HttpProblem> {
  const body = await readJson(request, linkChange, CHANGE_EXAMPLE, SHORTEN_NAMES);
  if (isProblem(body)) return body;
  const { target, expires, max_visits, password } = body;
  const expiry = readExpiry(expires);
  return isProblem(expiry) ? expiry : { originalUrl: target, expiry, maxVisits: max_visits, password };
}
