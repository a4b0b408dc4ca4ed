import type { EditRequest } from "../../links/edit.ts";
import { isProblem } from "../../links/problem.ts";
import type { HttpProblem } from "../problems.ts";
import { readExpiry, readStart } from "./create.ts";
import { readJson } from "./json-body.ts";
import { CHANGE_EXAMPLE, linkChange, SHORTEN_NAMES } from "./link-schemas.ts";

/** Reads a body that changes a link. Like `create.ts`, this is loaded with the first one. */
export async function readChange(request: Request): Promise<EditRequest | HttpProblem> {
  const body = await readJson(request, linkChange, CHANGE_EXAMPLE, SHORTEN_NAMES);
  if (isProblem(body)) return body;
  const { target, max_visits, password } = body;
  const expiry = readExpiry(body.expires);
  const starts = body.starts === null ? null : readStart(body.starts);
  const refusals = [expiry, starts].filter(isProblem).flatMap((problem) => problem.refusals);
  if (isProblem(expiry) || isProblem(starts)) return { kind: "invalid", refusals };
  return { originalUrl: target, expiry, starts, maxVisits: max_visits, password };
}
