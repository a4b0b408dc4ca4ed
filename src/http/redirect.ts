import type { Clock } from "../links/clock.ts";
import { lookUpCode } from "../links/code.ts";
import type { Link } from "../links/link.ts";
import type { Links } from "../links/links.ts";
import { createCache } from "./cache.ts";
import { type HttpProblem, problemAnswer, problemOf } from "./problems.ts";

/** In bytes. Half of it, some 120,000 links with targets of 80 characters, is sure to be remembered. */
const CACHE_BYTES = 128 * 1024 * 1024;
/** Measured: what an entry takes beside the characters of its code and target. */
const ENTRY_BYTES = 450;

export interface RedirectOptions {
  readonly links: Links;
  readonly clock: Clock;
  /** How long a shared cache may keep a redirect, in seconds. */
  readonly cacheSeconds: number;
  readonly onFault: (error: unknown) => void;
}

interface Entry {
  readonly endsMs: number;
  /** Until this instant `init` holds; from then on the shared cache's time is cut to the link's rest. */
  readonly fullCacheUntilMs: number;
  readonly target: string;
  readonly init: ResponseInit;
}

type RedirectRequest = Bun.BunRequest<"/:code">;

/**
 * GET and HEAD of a short address (RFC 9110, section 15.4.3). Only links that lead somewhere are remembered:
 * 404 and 410 are never answered from memory, so that a link made by another process resolves at once.
 */
export function createRedirect({ links, clock, cacheSeconds, onFault }: RedirectOptions) {
  // By the code as stored, which is how most addresses spell it: they need no normalising.
  const cache = createCache<Entry>(
    CACHE_BYTES,
    (code, { target }) => ENTRY_BYTES + code.length + target.length,
  );

  function remember(link: Link): Entry {
    const fullCacheUntilMs = link.endsMs - cacheSeconds * 1000;
    const entry = {
      endsMs: link.endsMs,
      fullCacheUntilMs,
      target: link.target,
      init: redirectInit(link.target, cacheSeconds),
    };
    cache.set(link.code, entry);
    return entry;
  }

  function answer(entry: Entry, nowMs: number): Response {
    if (nowMs <= entry.fullCacheUntilMs) return new Response(null, entry.init);
    return new Response(null, redirectInit(entry.target, Math.floor((entry.endsMs - nowMs) / 1000)));
  }

  async function lookUp(request: RedirectRequest): Promise<Response> {
    let problem: HttpProblem;
    try {
      const link = await links.resolve(request.params.code);
      if (!("kind" in link)) return answer(remember(link), clock.nowMs());
      problem = link;
    } catch (error) {
      onFault(error);
      problem = problemOf(error);
    }
    return problemAnswer(request.headers, problem);
  }

  return function redirect(request: RedirectRequest): Response | Promise<Response> {
    const spelling = request.params.code;
    const entry = cache.get(spelling) ?? cache.get(lookUpCode(spelling) ?? spelling);
    if (entry === undefined) return lookUp(request);
    const nowMs = clock.nowMs();
    // An ended link's code may have been given anew.
    return nowMs < entry.endsMs ? answer(entry, nowMs) : lookUp(request);
  };
}

function redirectInit(target: string, cacheSeconds: number): ResponseInit {
  const cacheControl = cacheSeconds > 0 ? `public, max-age=0, s-maxage=${cacheSeconds}` : "no-store";
  return { status: 302, headers: { Location: target, "Cache-Control": cacheControl } };
}

export type Redirect = ReturnType<typeof createRedirect>;
