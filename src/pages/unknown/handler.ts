import type { Call } from "../../http/call.ts";
import type { Limiter } from "../../http/limiter.ts";
import type { Overload } from "../../http/overload.ts";
import { problemOf } from "../../http/problems.ts";
import { prefersHtml } from "../../http/responses.ts";
import { writtenIn } from "../../http/url.ts";
import { header } from "../../lib/bounds.ts";
import { suggestIntendedCodes } from "../../links/code-suggestions.ts";
import type { Code } from "../../links/code.ts";
import { answerProblem, problemAnswer } from "../problem/answer.ts";
import { type CachedProblem, isForReader } from "../problem/problem-cache.ts";

export interface UnknownOptions {
  /** Whether there is a link of this code. */
  readonly exists: (code: Code) => Promise<boolean>;
  readonly limiter: Pick<Limiter, "unknown" | "barred">;
  readonly overload: Pick<Overload, "takeTurns">;
  readonly cachedProblem: CachedProblem;
  readonly onFault: (error: unknown) => void;
}

/** An unknown link, or an address that can't be one. */
type NoLink = { readonly kind: "unknown" | "not-found" };

/** Counts and answers unknown addresses. */
export function createUnknownAnswer(options: UnknownOptions) {
  const { exists, limiter, overload, cachedProblem, onFault } = options;

  /** For requests that need no lookup. */
  function answerBriefly(call: Call, answer: () => Response): Response | Promise<Response> {
    const limited = limiter.unknown(call);
    return limited === undefined ? answer() : limited.then((refusal) => answerProblem(call, refusal));
  }

  /**
   * Looks up the codes that the reader may have meant. Each unsuccessful lookup counts, so that this is no cheaper way to
   * find links.
   */
  async function suggest(call: Call, problem: NoLink, codes: readonly Code[]): Promise<Response> {
    const barred = limiter.barred(call);
    if (barred !== undefined) return problemAnswer(call, await barred);
    try {
      const at = await firstKnown(codes);
      const limited = limiter.unknown(call, 1 + (at < 0 ? codes.length : at));
      if (limited !== undefined) return problemAnswer(call, await limited);
      return problemAnswer(call, problem, codes[at]);
    } catch (error) {
      onFault(error);
      return problemAnswer(call, problemOf(error));
    }
  }

  /** The index of the first existing code, or -1. */
  async function firstKnown(codes: readonly Code[]): Promise<number> {
    for (const [at, code] of codes.entries()) if (await exists(code)) return at;
    return -1;
  }

  return (call: Call, problem: NoLink): Response | Promise<Response> => {
    // A looked-up code is no address of the API. Reading the path would cost a tenth of a redirect.
    if (call.code === "" ? !isForReader(call) : !prefersHtml(header(call.headers, "accept")))
      // This takes no longer than refusing it.
      return answerBriefly(call, () =>
        problem.kind === "unknown"
          ? cachedProblem(call, { kind: problem.kind })
          : answerProblem(call, problem),
      );
    return overload.takeTurns(
      "unknown",
      call,
      () => {
        const codes = suggestIntendedCodes(call.code || writtenIn(call.request));
        return codes.length === 0
          ? answerBriefly(call, () => problemAnswer(call, problem))
          : suggest(call, problem, codes);
      },
      () => answerBriefly(call, () => cachedProblem(call, { kind: "overloaded" })),
    );
  };
}

export type UnknownAnswer = ReturnType<typeof createUnknownAnswer>;
