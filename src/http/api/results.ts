import type { CreateRequest } from "../../links/create.ts";
import type { Link } from "../../links/link.ts";
import { isProblem } from "../../links/problem.ts";
import { message } from "../../locales/messages.ts";
import type { Domain } from "../domain.ts";
import { REASON_HEADER } from "../problem-reasons.ts";
import { type HttpProblem, tellProblem } from "../problems.ts";
import type { Dialect, Wanted } from "./create.ts";
import { toObject } from "./json-body.ts";

/** What became of one of many links, as a request for it alone would be answered. */
export interface LinkResult {
  readonly status_code: number;
  readonly status: "success" | "error";
  readonly message: string;
  readonly data?: object;
  /** What `Curt-Reason` and `Retry-After` would be. */
  readonly reason?: string | undefined;
  readonly retry_after?: number | undefined;
}

/** Reads one of many bodies. */
export function readItem(item: unknown, dialect: Dialect): Wanted | HttpProblem {
  const body = toObject(item, dialect.example);
  return isProblem(body) ? body : dialect.read(body.value);
}

/** What the bodies that could be read ask for. */
export function requestsOf(asked: readonly (Wanted | HttpProblem)[]): CreateRequest[] {
  return asked.flatMap((one) => (isProblem(one) ? [] : [one.request]));
}

/** Tells what became of each body. `outcomes` are those of the bodies that could be read. */
export function tellResults(
  asked: readonly (Wanted | HttpProblem)[],
  outcomes: readonly (Link | HttpProblem)[],
  { dialect, domain, language }: { dialect: Dialect; domain: Domain; language: string },
): LinkResult[] {
  const made = message(language, dialect.message);
  const rest = outcomes.values();

  function tell(one: Wanted | HttpProblem): LinkResult {
    const outcome = isProblem(one) ? one : rest.next().value;
    if (outcome === undefined) throw new Error("Every body has an outcome");
    if (isProblem(outcome)) return tellRefused(outcome);
    return {
      status_code: 201,
      status: "success",
      message: made,
      data: (one as Wanted).tell(outcome, domain).data,
    };
  }

  function tellRefused(problem: HttpProblem): LinkResult {
    const { status, text, headers } = tellProblem(problem, language, dialect.fields);
    const retryAfter = headers["Retry-After"];
    return {
      status_code: status,
      status: "error",
      message: text,
      reason: headers[REASON_HEADER],
      retry_after: retryAfter === undefined ? undefined : Number(retryAfter),
    };
  }

  return asked.map(tell);
}
