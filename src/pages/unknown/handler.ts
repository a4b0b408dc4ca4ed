import type { Call } from "../../http/call.ts";
import type { Limiter } from "../../http/limits/limiter.ts";
import type { Overload } from "../../http/limits/overload.ts";
import { asProblem } from "../../http/problems.ts";
import { prefersHtml } from "../../http/responses.ts";
import { writtenIn } from "../../http/url.ts";
import { header } from "../../lib/bounds.ts";
import { inOtherCapitals, suggestIntendedCodes } from "../../links/code-suggestions.ts";
import type { Code, CodeCase } from "../../links/code.ts";
import { answerProblem, answerPageProblem } from "../problem/answer.ts";
import { type CachedProblem, isForReader } from "../problem/problem-cache.ts";
import { beforeSlash } from "../problem/unknown-page.tsx";

const NONE: readonly never[] = [];

export interface UnknownOptions {
  /** Whether there is a link of this code. */
  readonly exists: (code: Code) => boolean | Promise<boolean>;
  readonly limiter: Pick<Limiter, "unknown" | "barred">;
  readonly overload: Pick<Overload, "takeTurns">;
  readonly cachedProblem: CachedProblem;
  /** For a person whom the proxy names, answers with links whose codes are similar. Undefined for everybody else. */
  readonly showNearest: (call: Call) => Promise<Response> | undefined;
  readonly onFault: (error: unknown) => void;
}

/** An unknown link, or an address that can't be one. */
type NoLink = { readonly kind: "unknown" | "not-found" };

/** Counts and answers an unknown address, and says which code may be meant. Programs learn only of other capitals. */
export type UnknownAnswer = (call: Call, problem: NoLink) => Response | Promise<Response>;

export function createUnknownAnswer(options: UnknownOptions): UnknownAnswer {
  const { exists, limiter, overload, cachedProblem, showNearest, onFault } = options;

  /** For requests that need no lookup. */
  function answerBriefly(
    call: Call,
    answer: () => Response | Promise<Response>,
  ): Response | Promise<Response> {
    const limited = limiter.unknown(call);
    return limited === undefined ? answer() : limited.then((refusal) => answerProblem(call, refusal));
  }

  /**
   * Looks up the codes that the reader may have meant. Each group without a link counts, up to `most`, so that this is hardly a
   * cheaper way to find links. Waits only if the store does.
   */
  function suggest(
    call: Call,
    groups: readonly (readonly Code[])[],
    answer: (meant: Code | undefined) => Response | Promise<Response>,
    most = Infinity,
  ): Response | Promise<Response> {
    const barred = limiter.barred(call);
    if (barred !== undefined) return barred.then((refusal) => answerPageProblem(call, refusal));
    const codes = groups.flat();
    const decide = (known: readonly boolean[]) => {
      const meant = codes[known.indexOf(true)];
      const at = groups.findIndex((group) => meant !== undefined && group.includes(meant));
      const unknown = 1 + (at < 0 ? groups.length : at);
      const limited = limiter.unknown(call, Math.min(unknown, most));
      return limited?.then((refusal) => answerPageProblem(call, refusal)) ?? answer(meant);
    };
    const fail = (error: unknown) => {
      onFault(error);
      return answerPageProblem(call, asProblem(error));
    };
    try {
      const known = codes.map(exists);
      const all = () => Promise.all(known.map((one) => Promise.resolve(one)));
      const answered = isNow(known) ? decide(known) : all().then(decide);
      return answered instanceof Promise ? answered.catch(fail) : answered;
    } catch (error) {
      return fail(error);
    }
  }

  /** For programs. This takes no longer than refusing it, unless there are other capitals to look up. */
  function answerProgram(call: Call, problem: NoLink): Response | Promise<Response> {
    const { kind } = problem;
    const brief = () => (kind === "unknown" ? cachedProblem(call, { kind }) : answerProblem(call, problem));
    const capitals = kind === "unknown" ? inOtherCapitals(call.code, call.domain.codeCase) : NONE;
    if (capitals.length === 0) return answerBriefly(call, brief);
    return overload.takeTurns(
      "unknown",
      call,
      () =>
        suggest(
          call,
          [capitals],
          (meant) => (meant === undefined ? brief() : answerPageProblem(call, { kind, meant })),
          // As everywhere in the API, whose 404s count once.
          1,
        ),
      () => answerBriefly(call, brief),
    );
  }

  return (call, problem) => {
    // A looked-up code is no address of the API. Reading the path would cost a tenth of a redirect.
    if (call.code === "" ? !isForReader(call) : !prefersHtml(header(call.headers, "accept")))
      return answerProgram(call, problem);
    return overload.takeTurns(
      "unknown",
      call,
      () => {
        const near = (meant?: Code) =>
          (problem.kind === "unknown" && meant === undefined ? showNearest(call) : undefined) ??
          answerPageProblem(call, { ...problem, meant });
        const groups = groupsFor(call.code || writtenIn(call.request), call.domain.codeCase);
        return groups.length === 0 ? answerBriefly(call, near) : suggest(call, groups, near);
      },
      () => answerBriefly(call, () => cachedProblem(call, { kind: "overloaded" })),
    );
  };
}

function isNow<T>(values: readonly (T | Promise<T>)[]): values is T[] {
  return !values.some((value) => value instanceof Promise);
}

/** The codes that a reader may have meant. Codes in other capitals count as one look-up. A path may follow the code. */
function groupsFor(written: string, codeCase: CodeCase): readonly (readonly Code[])[] {
  const glued = suggestIntendedCodes(written, codeCase).map((code) => [code]);
  const capitals = inOtherCapitals(beforeSlash(written), codeCase);
  if (capitals.length === 0) return glued;
  return written.includes("/") ? [...glued, capitals] : [capitals, ...glued];
}
