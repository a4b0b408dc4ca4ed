import { negotiateLanguage } from "../language/messages.ts";
import type { Clock } from "../links/clock.ts";
import type { Code } from "../links/code.ts";
import { meantBy } from "../links/meant.ts";
import { isProblem } from "../links/problem.ts";
import { prefersHtml } from "./answers.ts";
import type { Call } from "./call.ts";
import { acceptsGzip } from "./compression.ts";
import { memoizeByDomain } from "./domain.ts";
import type { Limiter } from "./limits.ts";
import type { Overload } from "./overload.ts";
import { answerProblem, problemAnswer, problemOf } from "./problems.ts";
import type { LinkMemory } from "./redirect/memory.ts";
import { pathOf, writtenIn } from "./url.ts";

export interface UnknownOptions {
  readonly memory: Pick<LinkMemory, "get" | "lookUp">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly limiter: Pick<Limiter, "unknown" | "barred">;
  readonly overload: Pick<Overload, "refuses">;
  readonly onFault: (error: unknown) => void;
}

/** There is no such link, or there can be none. */
type LeadsNowhere = { readonly kind: "unknown" | "not-found" };

/** Answers that are made once and then copied. */
type Kept = "unknown" | "overloaded";

/** Counts and answers an address that leads nowhere. */
export function createUnknownAnswer({ memory, clock, limiter, overload, onFault }: UnknownOptions) {
  const keptBy = memoizeByDomain((): { answer?: Response } => ({}));

  /** `kept` is answered instead of the problem. */
  function answerBriefly(
    call: Call,
    problem: LeadsNowhere,
    kept: Kept | undefined,
  ): Response | Promise<Response> {
    const limited = limiter.unknown(call);
    if (limited !== undefined) return limited.then((refusal) => answerProblem(call, refusal));
    return kept === undefined ? answerProblem(call, problem) : answerKept(call, kept);
  }

  /** Robots ask for many codes, and making the answer takes ten times as long as copying it. */
  function answerKept(call: Call, kind: Kept): Response {
    const language = negotiateLanguage(call.headers.get("accept-language"));
    const coding = acceptsGzip(call.headers.get("accept-encoding")) ? "gzip" : "";
    const form = isForReader(call) ? "html" : isForApi(call) ? "api" : "json";
    const kept = keptBy(call.domain, `${kind} ${form} ${language} ${coding}`);
    kept.answer ??= answerProblem(call, { kind });
    return kept.answer.clone() as Response;
  }

  /**
   * Looks for the link that was meant. Each code that is looked up in vain counts like one that was asked for, so that
   * this is no cheaper way to find links.
   */
  async function answerReader(call: Call, problem: LeadsNowhere): Promise<Response> {
    // The client's address is lost if the reader hangs up while the store is asked.
    call.client();
    const codes = meantBy(call.code || writtenIn(call.request));
    const barred = codes.length === 0 ? undefined : limiter.barred(call);
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

  /** The place of the first code that a visit would be told something of; -1 if there is none. */
  async function firstKnown(codes: readonly Code[]): Promise<number> {
    for (const [at, code] of codes.entries()) {
      const found = memory.get(code, clock.nowMs()) ?? (await memory.lookUp(code));
      if (!isProblem(found) || found.kind !== "unknown") return at;
    }
    return -1;
  }

  return (call: Call, problem: LeadsNowhere): Response | Promise<Response> => {
    if (overload.refuses("unknown")) return answerBriefly(call, problem, "overloaded");
    if (isForReader(call)) return answerReader(call, problem);
    return answerBriefly(call, problem, problem.kind === "unknown" ? problem.kind : undefined);
  };
}

function isForApi({ request }: Call): boolean {
  return pathOf(request).startsWith("/api/");
}

function isForReader(call: Call): boolean {
  return prefersHtml(call.headers.get("accept")) && !isForApi(call);
}

export type UnknownAnswer = ReturnType<typeof createUnknownAnswer>;
