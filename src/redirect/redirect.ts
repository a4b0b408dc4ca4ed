import type { Call, CallOf } from "../http/call.ts";
import type { Limiter } from "../http/limits/limiter.ts";
import { asProblem } from "../http/problems.ts";
import { pathOf } from "../http/url.ts";
import { createHistogram, type Histogram, SECONDS } from "../lib/histogram.ts";
import type { Clock } from "../links/clock.ts";
import { type Code, type CodeCase, lookUpCode, NEVER_IN_CODES } from "../links/code.ts";
import { isProblem } from "../links/problem.ts";
import { answerPageProblem } from "../pages/problem/answer.ts";
import type { UnknownAnswer } from "../pages/unknown/handler.ts";
import type { Recorder } from "../visits/recorder.ts";
import type { Gate } from "./gate.ts";
import { isFromOwnPage, type Interstitial } from "./interstitial.ts";
import type { GuardedLink, LinkCache, LookUpResult } from "./link-cache.ts";
import type { Entry } from "./link-table.ts";

export interface RedirectOptions {
  readonly linkCache: Pick<LinkCache, "get" | "lookUp" | "keep">;
  readonly codeCase: CodeCase;
  readonly clock: Clock;
  readonly recorder: Pick<Recorder, "record">;
  readonly callOf: CallOf;
  readonly limiter: Pick<Limiter, "isBarred" | "barred">;
  readonly answerUnknown: UnknownAnswer;
  /** How long a shared cache may keep a redirect, in seconds. */
  readonly cacheSeconds: number;
  /** Undefined with INTERSTITIAL=off. */
  readonly interstitial: Interstitial | undefined;
  /** Answers for links that are never cached. */
  readonly gate: Pick<Gate, "get" | "head">;
  /** Codes whose addresses are pages, and so never links. */
  readonly pages: ReadonlySet<string>;
  /** Answers for pages, and for paths that can't be a code, such as /abc+. */
  readonly elsewhere: (request: Request, server: Server) => Response | Promise<Response>;
  /** Counts the responses. */
  readonly figures: RedirectFigures;
  readonly onFault: (error: unknown) => void;
}

/** Requests for short addresses since the start, by outcome. */
export interface RedirectFigures {
  /** Answered by the cache. Only an addition, because this is the hot path: nothing is timed there. */
  fromMemory: number;
  /** Cache misses by outcome. */
  readonly others: Record<RedirectOutcome, number>;
  /** Time of cache misses. */
  readonly seconds: Histogram;
}

/** `page`: a page or a problem instead of a redirect, such as a preview or the password form. */
type RedirectOutcome = "store" | "unknown" | "gone" | "limited" | "failed" | "page";

export function createRedirectFigures(): RedirectFigures {
  const others = { store: 0, unknown: 0, gone: 0, limited: 0, failed: 0, page: 0 };
  return { fromMemory: 0, others, seconds: createHistogram(SECONDS) };
}

type Server = Bun.Server<unknown>;
type RouteHandler = (request: Bun.BunRequest<"/:code">, server: Server) => Response | Promise<Response>;

/**
 * Answers GET and HEAD of a short address (RFC 9110, section 15.4.3). A GET counts as a visit before its response, a HEAD
 * doesn't. 404 and 410 always come from the store, never from the cache. Limits apply to cached links only for barred clients.
 */
export type Redirect = Readonly<Record<"GET" | "HEAD", RouteHandler>>;

/** Answers a request for an existing link. */
type Follow = (entry: Entry, call: Call, nowMs: number) => Response | Promise<Response>;
type Guard = (call: Call, guarded: GuardedLink) => Promise<Response>;
type LookUp = (
  call: Call,
  code: Code | undefined,
  follow: Follow,
  guard: Guard,
) => Response | Promise<Response>;

export function createRedirect(options: RedirectOptions): Redirect {
  const { linkCache, codeCase, clock, recorder, callOf, limiter, answerUnknown } = options;
  const { cacheSeconds, interstitial, gate, pages, elsewhere, figures, onFault } = options;

  /** Reused, because a response copies a `Headers` faster than an object. */
  const headers = new Headers();

  function answer({ target, endsMs }: Entry, nowMs: number): Response {
    const sharedSeconds = Math.min(cacheSeconds, Math.floor((endsMs - nowMs) / 1000));
    const cacheControl = sharedSeconds > 0 ? `public, max-age=0, s-maxage=${sharedSeconds}` : "no-store";
    headers.set("Location", target);
    headers.set("Cache-Control", cacheControl);
    return new Response(null, { status: 302, headers });
  }

  /** Returns the cached link, or the code to look up, or undefined if the spelling cannot be a code. */
  function find(spelling: string, nowMs: number): Entry | Code | undefined {
    const entry = linkCache.get(spelling, nowMs);
    if (entry !== undefined || NEVER_IN_CODES.test(spelling)) return entry;
    const code = lookUpCode(spelling, codeCase);
    return code === undefined || code === spelling ? code : (linkCache.get(code, nowMs) ?? code);
  }

  function observe(response: Response, startMs: number): Response {
    figures.others[outcomeOf(response)]++;
    figures.seconds.observe((performance.now() - startMs) / 1000);
    return response;
  }

  const lookUp: LookUp = (call, code, follow, guard) => {
    const startMs = performance.now();
    // Read the client's address now: it is lost if the visitor hangs up meanwhile.
    call.client();
    const response = answerLookUp(call, code, follow, guard);
    return response instanceof Promise
      ? response.then((later) => observe(later, startMs))
      : observe(response, startMs);
  };

  const answerLookUp: LookUp = (call, code, follow, guard) => {
    if (code === undefined) return answerUnknown(call, { kind: "unknown" });
    const barred = limiter.barred(call);
    if (barred !== undefined) return barred.then((problem) => answerPageProblem(call, problem));
    const answerWith = (result: LookUpResult): Response | Promise<Response> => {
      if ("target" in result) return follow(result, call, clock.nowMs());
      if (!isProblem(result)) return guard(call, result);
      return result.kind === "unknown" ? answerUnknown(call, result) : answerPageProblem(call, result);
    };
    const fail = (error: unknown) => {
      onFault(error);
      return answerPageProblem(call, asProblem(error));
    };
    try {
      const result = linkCache.lookUp(code);
      return result instanceof Promise ? result.then(answerWith, fail) : answerWith(result);
    } catch (error) {
      return fail(error);
    }
  };

  /** A fault must not keep the visitor from being redirected. */
  function count(entry: Entry, call: Call, nowMs: number): void {
    try {
      recorder.record(entry, call, nowMs);
      linkCache.keep(entry);
    } catch (error) {
      onFault(error);
    }
  }

  /** Chosen once, so that a redirect does nothing for an interstitial that is off. */
  function afterPreview(follow: Follow, onShown: (entry: Entry, call: Call, nowMs: number) => void): Follow {
    if (interstitial === undefined) return follow;
    return (entry, call, nowMs) => {
      if (!interstitial.isFor(call)) return follow(entry, call, nowMs);
      if (!isFromOwnPage(call.headers)) onShown(entry, call, nowMs);
      return interstitial.show(call);
    };
  }

  const visit = afterPreview((entry, call, nowMs) => {
    count(entry, call, nowMs);
    return answer(entry, nowMs);
  }, count);
  const followUncounted = afterPreview(
    (entry, _call, nowMs) => answer(entry, nowMs),
    () => {},
  );

  const handlerOf =
    (follow: Follow, guard: Guard): RouteHandler =>
    (request, server) => {
      const spelling = request.params.code;
      const nowMs = clock.nowMs();
      const hit = find(spelling, nowMs);
      if (typeof hit !== "object" && isElsewhere(request, hit, spelling)) return elsewhere(request, server);
      const call = callOf(request, server, spelling);
      if (typeof hit !== "object" || limiter.isBarred(call))
        return lookUp(call, codeOf(hit, spelling), follow, guard);
      figures.fromMemory++;
      return follow(hit, call, nowMs);
    };
  return {
    GET: handlerOf(visit, (call, guarded) => gate.get(call, guarded)),
    HEAD: handlerOf(followUncounted, (call, guarded) => gate.head(call, guarded)),
  };

  /** Returns the code to look up, for a barred client also that of a cached link. */
  function codeOf(hit: Entry | Code | undefined, spelling: string): Code | undefined {
    return typeof hit === "object" ? lookUpCode(spelling, codeCase) : hit;
  }

  /** The address of a page has one spelling: /%64ocs is an unknown code. */
  function isElsewhere(request: Request, code: Code | undefined, spelling: string): boolean {
    if (code === undefined) return NEVER_IN_CODES.test(spelling);
    return pages.has(spelling) && pathOf(request).replaceAll("/", "") === spelling;
  }
}

function outcomeOf({ status }: Response): RedirectOutcome {
  if (status === 302) return "store";
  if (status === 404) return "unknown";
  if (status === 410) return "gone";
  if (status === 429) return "limited";
  return status >= 500 ? "failed" : "page";
}
